"""English: how people say what is required, decided, planned, tried and learned."""

from afterwit.extract.english.words import DEICTIC, NAME, STOP, VALUE, VERBS, WEEKDAY, WHY, C
from afterwit.extract.rules import rule
from afterwit.records import Kind

CONSTRAINTS = (
    rule(
        Kind.CONSTRAINT,
        r"(?i:please )?(?i:use) (?!(?i:it|this|that|the|them|your|my|these)\b)(?P<chosen>[^.,;!?\n]{2,40}?) "
        r"(?i:for (?:all|every|any|each)?) ?"
        r"(?!(?i:now|this|that|it|me|example)\b)[^.;!?\n]+",
    ),
    rule(
        Kind.CONSTRAINT,
        rf"(?i:(?:please |let's |you should |we should |just )*(?:use|switch to|go with|try|install|import|"
        rf"call|run) )(?P<chosen>{C}+?),? "
        rf"(?i:instead of|rather than|not|and not|in place of|over) (?P<rejected>{C}+)",
        is_change=True,
    ),
    rule(
        Kind.CONSTRAINT,
        rf"(?i:(?:please )?(?:don't|do not|dont|stop|avoid|never) (?:use|using|install|import|call|run|"
        rf"installing)) (?P<rejected>{C}+?)[,;.] "
        rf"?(?i:please )?(?i:use|install|import|call|run|go with|prefer) (?P<chosen>{C}+?)(?i: instead)?{STOP}",
        is_change=True,
    ),
    rule(
        Kind.CONSTRAINT,
        rf"(?i:instead of (?:using )?)(?P<rejected>{C}+?), (?i:please )?(?i:use|run|call) (?P<chosen>{C}+)",
        is_change=True,
    ),
    rule(
        Kind.CONSTRAINT,
        rf"(?i:from now on|going forward|in (?:the )?future|as of now),? (?i:please )?(?=.*\b{VERBS}|"
        rf".*\b(?i:must|should|need)\b).+",
        is_change=True,
    ),
    rule(
        Kind.CONSTRAINT,
        rf"(?i:please |you (?:must|should) |make sure (?:to|that you|you) |we |i want you to |remember to "
        rf")*(?i:always|never|under no circumstances) {VERBS}\b{DEICTIC}.+",
    ),
    rule(Kind.CONSTRAINT, rf"(?i:please )?(?i:don't|do not|dont) (?i:ever )?{VERBS}\b{DEICTIC} .+"),
    rule(Kind.CONSTRAINT, rf"(?i:please )?(?i:avoid|stop) (?i:\w+ing|the use of)\b{DEICTIC} .+"),
    rule(
        Kind.CONSTRAINT,
        r"(?!(?i:you|he|she|it|that|this|there|i|they|someone|something|your|his|her|their|those|these|wow|while)\b)"
        r"(?!.*\b(?i:must|should)(?: have|'ve|-| (?:feel|seem|look|sound|make|admit|say|warn|confess|know|see|"
        r"miss|love|enjoy)\b|"
        r" be (?:an?|the|my|quite|so|very|really|nice|great|hard|fun|exciting|tough|amazing|incredible|"
        r"kidding|joking|wrong|due|"
        r"something|because|why|how|it|that)\b))"
        r"(?i:\S+ ){1,8}?(?i:must|mustn't|shall|should (?:always|never|not)|(?:is|are) (?:not allowed|"
        r"forbidden|prohibited|"
        r"mandatory|only allowed|not permitted|required to))\b.+",
    ),
    rule(Kind.CONSTRAINT, r"(?i:constraint|requirement|rule|convention|policy)s?: .+"),
    rule(
        Kind.CONSTRAINT,
        r"(?i:no) (?:[\w-]+ ){1,4}(?i:in (?:the )?(?:code|comments|commits?|production|tests|repo|answers|"
        r"replies)|allowed|on fridays?|without \w+)\b.*",
    ),
)

DECISIONS = (
    rule(Kind.DECISION, rf"(?i:decision|decided|we decided)(?i::| that) ?{VALUE}{WHY}"),
    rule(
        Kind.DECISION,
        rf"(?i:(?P<who>we|i|the user|user|the team|our team|they|project \w+)(?:'ve| have| has)? (?:finally |"
        rf"all |also |already |just )*|(?-i:{NAME}) |)"
        rf"(?i:chose|chosen|picked(?! up| out)|selected|opted for|settled on|decided on|decided for) (?i:to "
        rf"use )?(?P<chosen>{C}+?)"
        rf"(?: (?i:over|instead of|rather than|and not|not) (?P<rejected>{C}+?))?(?i: for (?:the |our )?[\w ]+?)?"
        rf"(?:,? (?i:because of|because|since|as|so that|due to|for its|given) (?P<rationale>.+)|{STOP})",
    ),
    rule(
        Kind.DECISION,
        rf"(?i:(?P<who>we|i|the user|user|the team|our team|let's|let us)(?:'ve|'re|'ll| have| has| are| "
        rf"will)? (?:finally |all |also |already |just )*)"
        rf"(?i:go(?:ing|ne)? with|went with|stick(?:ing)? (?:with|to)|sticking with) (?!(?i:it|that|this|him|"
        rf"her|them|my|you)\b)(?P<chosen>[A-Z0-9]{C}*?|[\w-]+)"
        rf"(?: (?i:over|instead of|rather than|and not|not) (?P<rejected>{C}+?))?(?i: for (?:the |our )?[\w ]+?)?"
        rf"(?:,? (?i:because of|because|since|as|so that|due to|for its|given) (?P<rationale>.+)|{STOP})",
    ),
    rule(
        Kind.DECISION,
        rf"(?i:(?P<who>we|i|the user|user|the team|our team)(?:'ve| have| has)? (?:finally |all |also |already "
        rf"|just )*|(?-i:{NAME}) |)"
        rf"(?i:decided|agreed|chose|resolved|opted) (?i:not )?(?i:to|that|on|against) (?i:(?:use|adopt|go with)"
        rf" )?(?P<chosen>{C}+?)"
        rf"(?: (?i:instead of|rather than|over) (?P<rejected>{C}+?))?"
        rf"(?:,? (?i:because of|because|since|as|so that|due to|given) (?P<rationale>.+)|{STOP})",
    ),
    rule(
        Kind.DECISION,
        rf"(?P<chosen>[A-Z][\w.+# -]*?) (?i:was|were|has been) (?i:chosen|picked|selected)(?: (?i:over|instead "
        rf"of|rather than) (?P<rejected>{C}+?))?{WHY}",
    ),
    rule(
        Kind.DECISION,
        r"(?i:option|plan|approach|proposal) (?P<rejected>\w+) (?i:was|is|has been) (?i:rejected|ruled out|"
        r"dropped)(?:,? (?i:because|since|as|due to) (?P<rationale>.+))?",
    ),
)

INTENTS = (
    rule(Kind.INTENT, r"(?P<trigger>(?i:next time(?: (?:we|you|i) [^,]+)?)),? (?!(?i:for sure|then)\b).*\w+.*"),
    rule(
        Kind.INTENT,
        r"(?P<trigger>(?i:(?:when|whenever) (?:we|you|i) (?:next )?[^,]+ next|the next time (?:we|you|i) [^,]+)),? "
        r"(?!(?i:i|it|he|she|they)\b).*\w+.*",
    ),
    rule(
        Kind.INTENT,
        rf"(?i:(?:please )?(?:by|before|no later than|next|on|this) (?:the )?(?:end of )?(?:{WEEKDAY}|week|month|"
        r"quarter|tomorrow|\d{4}-\d\d-\d\d)),? (?i:please |remember to )?(?i:send|finish|check|look (?:at|into)|fix|"
        r"review|update|write|clean|remove|renew|prepare|deploy|merge|upgrade|migrate|test|call|email|reply|submit|"
        r"revisit|delete|add|run)\b.+",
    ),
    rule(
        Kind.INTENT,
        r"(?i:(?:please |can you )*remind (?:me|us|them|the user|user)) "
        r"(?i:(?:by|before|on|at|next|this|tomorrow|in) ?)[^,.;]{0,40}?,? ?(?i:to|about|of|that) .+",
    ),
    rule(
        Kind.INTENT,
        rf"(?i:(?:i|we|the user) (?:still )?(?:(?:needs?|have|has|wants?|plans?) to|must)) .+ "
        rf"(?i:by|before|no later than) (?:the )?(?i:end of )?"
        rf"(?i:{WEEKDAY}|tomorrow|next (?:week|month|{WEEKDAY})|\d{{4}}-\d\d-\d\d)\W*$",
    ),
    rule(
        Kind.INTENT,
        r"(?i:(?:please |can you )*remind (?:me|us|them|the user|user)) (?i:(?:next time|tomorrow|later|on "
        r"\w+)? ?(?:to|about|of|that)) .+",
    ),
    rule(Kind.INTENT, r"(?:TODO|Todo|todo|FIXME|To do|Follow[- ]up)(?i: later)?\s?[:(-].+|TODO later\b.*"),
    rule(Kind.INTENT, r"(?i:please )?(?i:don't forget|do not forget|remember) (?i:to) .+"),
    rule(
        Kind.INTENT,
        r"(?P<trigger>(?i:later|at some point|eventually|some ?day|tomorrow|next (?:week|month|sprint|quarter|"
        r"release)|when (?:we|you|i) (?:have|get|find) "
        r"(?:some )?time|after the (?:release|launch|demo|migration)|(?:once|when|after) [^,]+)),? (?i:please "
        r")?(?i:we|i|let's)(?i:'ll|'d)? ?"
        r"(?i:should|need to|want to|will|must|have to|look|fix|remind|plan to|am going to)\b.+",
    ),
    rule(
        Kind.INTENT,
        r"(?P<trigger>(?i:once|when|after) [^,]+), (?i:please )?(?i:remind|look at|revisit|check|clean up|"
        r"remove|delete|switch)\b.+",
    ),
    rule(
        Kind.INTENT,
        r"(?i:(?:we|you|i|let's)(?:'ll|'d)? ?(?:should|need to|want to|will|must|have to|plan to|still need "
        r"to|still have to|revisit|come back)\b.*\b)(?P<trigger>(?i:later|next time|next (?:week|sprint|month|"
        r"quarter)|"
        r"at some point|another time|when we have time|after the (?:release|launch|demo)))\W*$",
    ),
    rule(Kind.INTENT, r"(?i:when you have (?:some )?time|if you have time|when there is time),? (?i:please )?\w+.*"),
)

LESSONS = (
    rule(
        Kind.LESSON,
        r"(?i:lessons?(?: learn(?:ed|t))?|gotcha|pitfall|takeaway|key insight|insight|tip|note to self|til)s?: .+",
    ),
    rule(
        Kind.LESSON,
        r"(?i:it )?(?i:turns out|turned out)(?i: that)?,? (?!(?i:he|she|they|you|i|my|his|her|their)\b)"
        r"(?P<result>.+)",
    ),
    rule(
        Kind.LESSON,
        r"(?i:the )?(?i:root cause|real cause|cause|underlying (?:issue|problem)|problem|issue|culprit|reason)"
        r"(?i: of [^,]+?| for [^,]+?| why [^,]+?)? (?i:was|is|turned out to be) (?i:that )?(?!(?i:fixed|"
        r"solved|gone|unknown|still|not|unclear|resolved|here|with you)\b)(?P<situation>[^;]+)(?:; "
        r"(?P<action>.+))?",
        nature="pitfall",
    ),
    rule(
        Kind.LESSON,
        r"(?i:the )?(?i:fix|solution|workaround|trick|answer|right way)(?i: for [^,]+?| to [^,]+?)? (?i:was|"
        r"is) (?i:to |that )?(?!(?i:not|in|on|ready|merged|deployed|done)\b)(?P<action>.+)",
        nature="technique",
    ),
    rule(
        Kind.LESSON,
        r"(?i:(?:we|i|user|the user)(?:'ve| have)? (?:learn(?:ed|t)|discovered|figured out|realized|found(?: "
        r"out)?)) (?i:that )(?P<result>.+)",
    ),
    rule(
        Kind.LESSON,
        r"(?!(?i:i|you|he|she|they|we)\b)(?P<situation>[^,;?]+?) (?i:only works?|works? only|fails?|breaks?(?! up)|"
        r"crashes|hangs|times out|errors out|silently \w+|won't \w+|does not work|doesn't work) (?:(?!i |you )"
        r"[\w-]+ ){0,4}?"
        r"(?P<trigger>(?i:if|when|unless|with|without|after|on|because|before)\b.+)",
        nature="pitfall",
    ),
    rule(
        Kind.LESSON,
        r"(?i:to|in order to) (?i:avoid|fix|prevent|solve|get around|work around|stop) (?P<situation>[^,]+), "
        r"(?P<action>.+)",
        nature="technique",
    ),
    rule(
        Kind.LESSON,
        r"(?i:if|when(?:ever)?) (?!(?i:i|we) (?i:were|was|had|lived|could))(?P<situation>[^,]+?(?i:fails?|"
        r"error|errors|returns?|times out|crashes|hangs|happens|see|get|shows?|breaks?)\b[^,]*), (?i:then "
        r")?(?P<action>(?!(?i:please|can|could|what|let me|tell me|remind)\b).+)",
        nature="technique",
    ),
    rule(
        Kind.LESSON,
        r"(?i:the|this|that|our|all)?\s?(?:[\w/.-]+ ){0,4}?(?P<word>(?i:api|endpoint|service|server|sdk|"
        r"library|cli|command|client|request|requests|migration|build|test|tests|container|image|plugin|"
        r"driver|parser|webhook|importer|upload|deploy|package|header|auth|authentication|query|job)) "
        r"(?i:needs|need|requires|require|expects|expect|ignores|rejects|wants) (?!(?i:to be (?:fixed|done|"
        r"updated)|work|help|attention|a (?:fix|review|rewrite|refactor)|more|your|fixing)\b)(?P<result>.+)",
    ),
    rule(
        Kind.LESSON,
        r"(?P<action>[^,;?]+?) (?i:fixed|solved|resolved|cured|did the trick for) (?P<situation>(?i:the|it|"
        r"this|that)\b.+)",
        nature="technique",
    ),
    rule(Kind.LESSON, r"(?i:be careful|beware|watch out|careful)(?i: with| of|:|,)? .+", nature="pitfall"),
)

FAILURES = (
    rule(
        Kind.FAILURE,
        r"(?i:(?:we|i|user|the user|agent)(?:'ve| have)? )?(?i:tried|attempted) (?P<action>.+?),? (?i:but|and|"
        r"however)(?i: it| that| this| they)? (?P<result>.*(?i:fail|didn't|did not|broke|crash|error|no luck|"
        r"no effect|wouldn't|hung|timed out).*)",
    ),
    rule(
        Kind.FAILURE,
        r"(?P<action>[^,;?]+?) (?i:failed|didn't work|did not work|broke|crashed) (?i:because|due to|since|as)"
        r" (?P<result>.+)",
    ),
)
