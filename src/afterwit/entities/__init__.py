"""People, projects and things: their other names, where they are named, and the relations between them.

Nothing here is stored but aliases: what a memory is about is read from its subject and its words, through the
same index that search uses, so that a merge, a split or a new subject holds for every row at once.
"""

from afterwit.entities.learning import Taught, taught_aliases
from afterwit.entities.names import Names, bare, entities_of, is_about, key_of, names_of
from afterwit.entities.relations import Way, ways

__all__ = ["Names", "Taught", "Way", "bare", "entities_of", "is_about", "key_of", "names_of", "taught_aliases", "ways"]
