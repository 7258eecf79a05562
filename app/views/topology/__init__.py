"""Topology view: a picture of servers, copies, links and applications."""

from app.views.topology.view import TopologyView

__all__ = ["TopologyView"]
