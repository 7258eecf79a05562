"""Failover Cluster Manager."""

from app.views.cluster_manager.manager import ClusterManager

__all__ = ["ClusterManager"]
