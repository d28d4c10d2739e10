"""The group protocol, second by second: pure, deterministic, on a clock of integer milliseconds.

`kernel` has the clock, the event heap and keyed timers; `classic` is the coordinator of the classic protocol.
"""
