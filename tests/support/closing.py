"""End librdkafka's consumers without waiting for ever."""

import threading

from confluent_kafka import Consumer


def close(*consumers: Consumer) -> None:
    """Close them side by side; who has not left its group after 20 s is left alone.

    librdkafka 2.16 now and then never comes back, when a rebalance begins as a member closes; it waits in C, where no
    signal and so no timeout of a test reaches it.
    """
    closing = [threading.Thread(target=one.close, daemon=True) for one in consumers]
    for thread in closing:
        thread.start()
    for thread in closing:
        thread.join(20)
