"""What stands behind the commands: their options, the run of one input, what is shown while it runs."""
