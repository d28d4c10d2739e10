"""Group events of `__consumer_offsets` -> the generations of their groups. Pure: who reads them does not matter here.

An event is a `Timed`: when its record was written, and the record as `records` decodes it. `tail` takes them
from the brokers; whoever stores them (Delta) keeps key and value beside the columns, and gets them back by
`lag.records.decode` (`lag.generations.recorded.stored` does). All events of a group stand in one partition, in order.

    recorder = Recorder(names_of_topics.get)          # topic id -> name, None where it is not known
    recorder.take(events, whole=True)                 # whole: these begin where the log does
    recorder.recorded("billing")                      # [Recorded(generation, began_ms, settled_ms, steps, skipped)]
"""

from lag.generations.recorded.model import Following, How, Phase, Recorded, Recording, Step, Timed, Timeouts
from lag.generations.recorded.recorder import Recorder, told

__all__ = ["Following", "How", "Phase", "Recorded", "Recorder", "Recording", "Step", "Timed", "Timeouts", "told"]
