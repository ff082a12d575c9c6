"""A review as a durable thing: its documents, the ledger of what people said, and the queue of what they see next."""
