"""What a solution tells, one file per verb."""
