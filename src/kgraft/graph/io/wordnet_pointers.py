"""The pointers of WordNet as relations: symbol, id, sentence with [X] and [Y], description."""

from __future__ import annotations

from typing import NamedTuple


class Pointer(NamedTuple):
    """One kind of pointer; [X] is the synset it leaves, [Y] the one it leads to."""

    id: str
    template: str
    description: str

    @property
    def label(self) -> str:
        """The id in words."""
        return self.id.replace("_", " ")


POINTERS = {
    "!": Pointer("antonym", "[X] is the opposite of [Y] .", "a word of opposite meaning"),
    "@": Pointer("hypernym", "[X] is a kind of [Y] .", "the more general concept"),
    "@i": Pointer("instance_hypernym", "[X] is a [Y] .", "the class this individual belongs to"),
    "~": Pointer("hyponym", "[Y] is a kind of [X] .", "a more special concept"),
    "~i": Pointer("instance_hyponym", "[Y] is a [X] .", "an individual of this class"),
    "#m": Pointer("member_holonym", "[X] is a member of [Y] .", "the group this is a member of"),
    "#s": Pointer("substance_holonym", "[Y] is made of [X] .", "what is made of this substance"),
    "#p": Pointer("part_holonym", "[X] is a part of [Y] .", "the whole this is a part of"),
    "%m": Pointer("member_meronym", "[X] has [Y] as a member .", "a member of this group"),
    "%s": Pointer("substance_meronym", "[X] is made of [Y] .", "a substance this is made of"),
    "%p": Pointer("part_meronym", "[X] has [Y] as a part .", "a part of this whole"),
    "=": Pointer(
        "attribute",
        "[X] and [Y] are about the same attribute .",
        "the attribute an adjective gives a value for, or such an adjective",
    ),
    "+": Pointer(
        "derivationally_related_form",
        "[X] is related in form to [Y] .",
        "a word of the same stem, often of another part of speech",
    ),
    ";c": Pointer("domain_topic", "[X] is a term of [Y] .", "the field in which this is a term"),
    "-c": Pointer("member_of_domain_topic", "[Y] is a term of [X] .", "a term of this field"),
    ";r": Pointer("domain_region", "[X] is used in [Y] .", "the region where this is said"),
    "-r": Pointer("member_of_domain_region", "[Y] is used in [X] .", "a term of this region"),
    ";u": Pointer("domain_usage", "[X] is used as [Y] .", "the manner of speaking this belongs to"),
    "-u": Pointer(
        "member_of_domain_usage", "[Y] is used as [X] .", "a term in this manner of speaking"
    ),
    "*": Pointer("entailment", "[X] entails [Y] .", "what one does necessarily by doing this"),
    ">": Pointer("cause", "[X] causes [Y] .", "what this brings about"),
    "^": Pointer("also_see", "[X] see also [Y] .", "a concept near in meaning"),
    "$": Pointer("verb_group", "[X] is similar in meaning to [Y] .", "a verb of similar meaning"),
    "&": Pointer("similar_to", "[X] is similar to [Y] .", "an adjective of similar meaning"),
    "<": Pointer("participle", "[X] is a participle of [Y] .", "the verb this is a participle of"),
    "\\": Pointer(
        "pertainym",
        "[X] pertains to [Y] .",
        "the noun an adjective pertains to, or the adjective an adverb comes from",
    ),
}

LEXICOGRAPHER_FILES = (
    "adj.all",
    "adj.pert",
    "adv.all",
    "noun.Tops",
    "noun.act",
    "noun.animal",
    "noun.artifact",
    "noun.attribute",
    "noun.body",
    "noun.cognition",
    "noun.communication",
    "noun.event",
    "noun.feeling",
    "noun.food",
    "noun.group",
    "noun.location",
    "noun.motive",
    "noun.object",
    "noun.person",
    "noun.phenomenon",
    "noun.plant",
    "noun.possession",
    "noun.process",
    "noun.quantity",
    "noun.relation",
    "noun.shape",
    "noun.state",
    "noun.substance",
    "noun.time",
    "verb.body",
    "verb.change",
    "verb.cognition",
    "verb.communication",
    "verb.competition",
    "verb.consumption",
    "verb.contact",
    "verb.creation",
    "verb.emotion",
    "verb.motion",
    "verb.perception",
    "verb.possession",
    "verb.social",
    "verb.stative",
    "verb.weather",
    "adj.ppl",
)
