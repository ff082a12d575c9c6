"""The review page and its API: FastAPI on one review file; it reads what the learner leaves and never trains."""
