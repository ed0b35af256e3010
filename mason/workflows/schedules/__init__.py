"""When workflows run by themselves: deployed to a scheduler, found due, started and judged."""
