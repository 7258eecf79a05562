"""Simulation of SQL Server failover: deterministic, without Qt."""
