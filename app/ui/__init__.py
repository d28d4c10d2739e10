"""What all pages share: words, formats, theme, widgets, links and charts. It imports no page."""
