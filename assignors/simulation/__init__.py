"""The group protocol, second by second: pure, deterministic, on a clock of integer milliseconds.

`kernel` has the clock, the event heap and keyed timers; `classic` and `consumer` are the coordinators of the two
protocols, `clients` the consumers that talk to them. `world` plays a scenario with them; `timeline` has the tables that
come out of it, `summary` their sums, `generations` the same as the charts know it.
"""
