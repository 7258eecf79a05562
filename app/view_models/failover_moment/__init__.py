"""Contents of the failover stage: the phases of one failover, their times, and published durations. No Qt."""
