"""What a run tells its reader: terminal, JSON, Markdown."""
