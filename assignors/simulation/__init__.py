"""The group protocol, second by second: pure, deterministic, on a clock of integer milliseconds.

`kernel` has the clock, the event heap and timers; `classic` and `consumer` are the group coordinators of the two
protocols, `clients` the consumers. `run` simulates a scenario; `timeline` has the resulting tables, their totals,
and the same as generations for charts.
"""
