"""Notices of verdicts for people without a browser: webhook, Slack, PagerDuty, Alertmanager and e-mail.

`incidents` and `due` decide, without I/O, what is sent to whom; `forms` make a message of it, `senders` send it, and
`notifier` runs a thread for each target.
"""
