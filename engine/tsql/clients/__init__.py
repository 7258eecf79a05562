"""Clients that send T-SQL to an instance: query windows, programs, SQL Server Agent and linked servers."""
