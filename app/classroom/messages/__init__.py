"""Messages of a class and of a team: one JSON object each, whose `kind` names its class.

codec.py reads and writes them. requests.py has the messages to a host, replies.py those from a host, team.py both
directions for a team. A host refuses unknown fields and kinds. A seat ignores them, because its host may be newer.
"""
