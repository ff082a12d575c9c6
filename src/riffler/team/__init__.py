"""Reviews that several people read: their accounts and roles, their desks, how they agree, and the learners."""
