"""Sentences in which Paris is a city in France, one in Texas, or a prince."""

SENTENCES = {
    "fr-paris": ["{} lies in France.", "the Seine flows through {}", "{} rules France"],
    "tx-paris": ["{} lies in Texas.", "a small city in Texas is {}", "{} has few people"],
    "myth": ["{} took Helen away.", "prince {} came to Troy", "{} shot Achilles"],
}


def examples():
    for entity, sentences in SENTENCES.items():
        for sentence in sentences:
            start = sentence.index("{}")
            mention = {"start": start, "end": start + 5, "entity": entity}
            yield sentence.format("Paris"), [mention]
