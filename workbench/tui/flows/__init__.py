"""The interactions, step by step: plan, ask in a modal, carry out in a thread."""
