"""Topology view: servers, copies, links and applications on a canvas."""

from app.views.topology.view import TopologyView

__all__ = ["TopologyView"]
