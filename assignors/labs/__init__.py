"""Small models that answer one question each: calls, delivery, watermarks; and the checklist of what they show."""
