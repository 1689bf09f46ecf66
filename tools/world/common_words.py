"""Words that are somebody's name for a place, language or currency, and mean something else.

The list was made by comparing all names with the common words of WordNet and with the vocabulary
of a language model: words, first names, and places that the graph does not hold.
"""

from __future__ import annotations

_WORDS = """
adams ahmad akin alley amara angeles apex arabia ariel bahia bala bale bally bancroft bane barium
bask baste bella bengal bert bethlehem bihar bolivar bone bono broach caller camo carmen caroline
carson catalonia cheng chichester chili chin colon conception conga cordon cree damask dandy devi
dong doula drug dual duran durga feng fletcher flores fovea fries galicia ganga gaur gene gilbert
gold google grenade grins gutierrez hail hamas hamid hang hanna harper harrington hayden henan
hind homo hosanna hoya hudson humus ileus independence indie island ivanov judah julia juliet juno
kale karin kilo krishna kyle lama larkin latino lei lester levi lids lila limo lion livingston
logan logos lone loom macarthur malabar man manger manilla manning mari mark marshall mason meshed
mets middletown midway milford minster miranda mite monster monterey mora more motown nadia name
nazareth newtown nico novgorod oral panda para pert pets pier pole poles pristine punjab rashid
real rest revel riant riding riff roan roles roman rouse rugby salazar salisbury salt saran sard
sari sava savanna senega senna serena shang sichuan simi sine slave sloven sofie sol solo sophia
soul sour sousa souse sparta spoken stalin stoke sum sumo tango tape tatum ting toga torn tour
trent tuba tunes turn valence valley vena vermilion victor vila vine wales walton wean westside
winchester winston won woodrow yang yuki zig zion
"""

COMMON_WORDS = frozenset(_WORDS.split())
"""Folded. Labels and names given by hand are exempt."""
