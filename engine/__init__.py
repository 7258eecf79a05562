"""Deterministic simulation of SQL Server failover, without Qt."""
