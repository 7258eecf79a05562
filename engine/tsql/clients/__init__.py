"""Clients that send T-SQL to an instance: windows, SQL Server Agent, linked servers."""
