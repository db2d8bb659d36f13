"""English: how people say what they prefer, who and where they are, what they use."""

from afterwit.extract.english.words import (
    ADV,
    ATTRIBUTE,
    BE,
    CAP,
    JOB,
    KIN,
    LANGUAGE,
    NAME,
    OWN,
    PASSING,
    PLACE,
    PROJECT,
    STOP,
    VALUE,
    WHO,
    C,
)
from afterwit.extract.rules import rule
from afterwit.records import Kind

PREFERENCES = (
    rule(
        Kind.PREFERENCE,
        r"(?i:(?:please |always |do |could you |you should |i(?:'d| would) like you to |i want you to |kindly )*"
        r"(?:answer|reply|respond|speak|talk|communicate|explain)(?: \w+){0,4}? in) "
        rf"{LANGUAGE}",
        "reply_language",
    ),
    rule(
        Kind.PREFERENCE,
        rf"{WHO} {ADV}(?i:prefers?|wants?|likes?) (?:(?i:the |all |your |my |to (?:get|have|read|receive) )*)"
        rf"(?P<value>(?:[\w-]+ ){{0,3}}?)(?i:answers|replies|responses|explanations|summaries|messages|output)"
        rf"(?: (?i:to be )?(?P<other>[\w -]+))?",
        "reply_style",
    ),
    rule(
        Kind.PREFERENCE,
        r"(?i:(?:please |always |i want you to |i'd like you to )*(?:keep|make) (?:your |the |all |all your "
        r")*(?:answers|replies|"
        r"responses|explanations|messages|summaries|output)) (?P<value>[\w -]+)",
        "reply_style",
    ),
    rule(
        Kind.PREFERENCE,
        r"(?i:(?:please |always )*be (?:more |very |as )*)(?P<value>(?i:concise|brief|terse|direct|succinct|"
        r"verbose|detailed|formal|"
        r"informal|blunt))\b",
        "reply_style",
    ),
    rule(
        Kind.PREFERENCE,
        rf"{WHO} ?{ADV}(?i:prefers?|favou?rs?|would rather(?: use| have)?|'d rather(?: use| have)?|would "
        rf"prefer|'d prefer) "
        rf"(?!(?i:it|this|that|them|not to answer)\b)(?i:to use |using |to )?{VALUE}"
        rf"(?: (?i:over|to|instead of|rather than|than) (?P<rejected>{C}+?))?(?:{STOP}|(?= (?i:for|when|"
        rf"because)\b))",
    ),
    rule(
        Kind.PREFERENCE,
        rf"(?P<who>(?i:my|the user's|user's|our)|{KIN}'s|{NAME}'s) (?i:all-time )?(?i:favou?rite|preferred|go-to) "
        rf"(?P<word>[\w-]+(?: \w+)?) {BE} {PASSING}{VALUE}",
    ),
    rule(
        Kind.PREFERENCE,
        rf"{WHO} {ADV}(?i:likes?|loves?|enjoys?|adores?|hates?|dislikes?|detests?|can't stand|cannot stand|"
        rf"(?:am|is|'m|are) (?:a (?:big |huge )?fan of|fond of|really into|into)|(?:don't|do not|doesn't|does not) "
        rf"(?:really |particularly )?(?:like|enjoy|care for)) "
        rf"(?!(?i:it|this|that|these|those|them|you|your|him|her|how|the (?:idea|way|look|new|result|first|"
        rf"second)|what|where|"
        rf"when you|to (?:think|say|ask|know|see if|thank|start)|to(?=\W*$)|the thought|(?:see|hold|watch|hav)"
        rf"ing (?:it|them|him|her|you|this|that)|one|both|either|my|yours)\b){VALUE}",
    ),
    rule(
        Kind.PREFERENCE,
        rf"{WHO} {ADV}(?i:don't|do not|doesn't|does not|never|can't|cannot|no longer) (?:(?i:ever|really|"
        rf"usually) )?"
        rf"(?i:eats?|drinks?|smokes?) (?!(?i:it|that|this|yet|breakfast today)\b){VALUE}",
        "diet",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}{BE} (?i:an? )?(?i:strict |lifelong )?(?P<value>(?i:vegetarian|vegan|pescatarian|"
        rf"lactose[- ]intolerant|"
        r"gluten[- ]free|kosher|halal|teetotal|celiac|coeliac))\b",
        "diet",
    ),
    rule(
        Kind.PREFERENCE,
        r"(?i:please )?(?i:call me|address me as) (?!(?i:back|later|when|if|at|on|tomorrow|a|an|the|crazy)\b)"
        r"(?P<value>[A-Z]\w+)",
        "name",
    ),
)

CHANGES = (
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:moved|relocated) (?i:back )?(?i:from "
        rf"[A-Z][\w ,]*? )?(?i:to) "
        rf"(?![\w.+#]* ?(?i:kubernetes|docker|aws|gcp|azure|github|gitlab|postgres\w*|mysql|mongodb|redis|"
        rf"linux|python|"
        rf"typescript|rust|go|react|vue|pnpm|yarn|bun|uv|vim|neovim|vs ?code|windows|macos|slack|jira|notion|"
        rf"linear)\b){PLACE}",
        "residence",
        is_change=True,
    ),
    rule(
        Kind.FACT,
        rf"{PROJECT} ?{ADV}(?i:(?:switched|migrated|moved|upgraded|converted|changed|switching|migrating|moving) "
        rf"(?:over )?(?:[\w ]+? )?(?:from (?P<rejected>[\w.+# -]+?) )?to|(?:are|is|'re) (?:switching|migrating|"
        rf"moving) to|replaced "
        rf"(?P<action>[\w.+#-]+) with) {VALUE}",
        is_change=True,
        named=True,
    ),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:joined|started (?:working )?at|(?:just )?started a (?:new )?job at|got a (?:new "
        rf")?job at|have a new job at|changed "
        rf"jobs to|was hired by) "
        rf"(?![A-Z]\w+ (?i:channel|call|meeting)\b){CAP}",
        "employer",
        is_change=True,
    ),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:got promoted to|was promoted to|became an?|have become an?|{BE} now an?|{BE} "
        rf"now the|changed jobs to) "
        rf"{JOB}",
        "job_title",
        is_change=True,
    ),
    rule(
        Kind.FACT,
        rf"{WHO} {ADV}(?i:got) (?P<value>(?i:married|divorced|engaged))\b",
        "marital_status",
        is_change=True,
    ),
    rule(
        Kind.FACT,
        rf"{PROJECT} ?{ADV}(?i:no longer uses?|stopped using|quit using|dropped|deprecated|abandoned|got rid "
        rf"of|are dropping|is dropping) {VALUE}",
        is_change=True,
        named=True,
    ),
    rule(
        Kind.FACT,
        rf"(?P<who>(?i:the|our|my)) (?P<word>(?i:deadline|due date|release date|launch date|budget|version|"
        rf"standup|stand-up)) "
        rf"(?i:for [\w -]+? )?(?i:has |have |was |got |is )*(?i:moved|changed|pushed|extended|raised|cut|now|"
        rf"postponed|shifted|"
        rf"increased|reduced|set) (?i:back |up |out )?(?i:to |at |is |until )?(?i:from [\w ,$-]+? to )?{VALUE}",
        is_change=True,
    ),
)

FACTS = (
    rule(Kind.FACT, rf"(?P<who>{KIN}) (?i:is|is called|is named) (?P<value>{NAME})(?=[.,;!]|$)", "name"),
    rule(Kind.FACT, rf"{PROJECT} ?{ADV}(?i:don't|do not|doesn't|does not) (?i:use) {VALUE}", named=True),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:no longer works? (?:at|for)|left|quit|resigned from) {CAP}",
        "employer",
        is_change=True,
    ),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:no longer lives? in|moved (?:away from|out of)) {PLACE}",
        "residence",
        is_change=True,
    ),
    rule(Kind.FACT, rf"{WHO} ?{ADV}(?i:{BE} )?(?i:responsible for|in charge of|owns|maintains) {VALUE}"),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:{BE} )?(?i:lives?|(?<=has )lived|(?<=have )lived|(?<='ve )lived|living|resides?|"
        rf"based|located|stay) (?i:and work )?(?i:in|near|"
        rf"out of) "
        rf"(?i:downtown |central |the )?{PLACE}",
        "residence",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:{BE} )?(?i:works?|working|employed)(?: (?i:full-time|part-time|remotely))? "
        rf"(?i:at|for|by) "
        rf"(?i:the )?{CAP}",
        "employer",
    ),
    rule(Kind.FACT, rf"{WHO} ?{ADV}(?i:works?|working|{BE} working) (?i:as) (?i:an? |the )?{JOB}", "job_title"),
    rule(Kind.FACT, rf"{WHO} ?{ADV}(?i:{BE}|been) {ADV}(?i:an? |the ){JOB}(?! (?i:of all|too|account)\b)", "job_title"),
    rule(
        Kind.FACT,
        rf"(?P<who>(?i:my|the user's|user's)|{KIN}'s) (?i:full |real |first |last )?name {BE} "
        rf"(?P<value>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*)",
        "name",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:{BE}|turned|just turned) {ADV}(?P<value>\d{{1,3}})(?i: years old)(?! project)",
        "age",
    ),
    rule(Kind.FACT, rf"{WHO} ?{ADV}(?i:just )?(?i:turned) (?P<value>\d{{1,2}})\b", "age"),
    rule(Kind.FACT, rf"{WHO} (?i:was|were) born on (?P<value>{C}+?){STOP}", "birthday"),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:was born in|were born in|grew up in|{BE} originally from|comes? from|{BE} from)"
        rf" {PLACE}",
        "birthplace",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}{BE} (?i:severely |very |deathly |highly |mildly )?(?i:allergic to) {VALUE}",
        "allergy",
    ),
    rule(Kind.FACT, rf"{WHO} {ADV}(?i:has|have|'ve got|got) (?i:an? )(?:\w+ )?(?i:allergy to) {VALUE}", "allergy"),
    rule(Kind.FACT, rf"{WHO} {ADV}(?i:has|have) (?i:an? )(?:\w+ )?(?P<value>[\w-]+) (?i:allergy)\b", "allergy"),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}{BE} {ADV}(?P<value>(?i:married|divorced|engaged|widowed|single))(?=(?i: to\b| now| "
        rf"with)|[.,;!]|$)",
        "marital_status",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} {ADV}(?i:has|have|'ve got|got|adopted) (?P<value>(?:(?i:an?|one|two|three|four|five|\d+) )"
        rf"(?:[\w-]+ ){{0,2}}?"
        r"(?i:kids?|child|children|sons?|daughters?|twins|baby|babies|boys?|girls?))\b",
        "children",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} {ADV}(?i:has|have|'ve got|got|adopted|own|owns) (?P<value>(?:(?i:an?|one|two|three|four|"
        rf"five|\d+) )(?:[\w-]+ ){{0,2}}?"
        r"(?i:dogs?|cats?|puppy|puppies|kittens?|parrots?|rabbits?|hamsters?|goldfish|turtles?|horses?))\b",
        "pet",
    ),
    rule(Kind.FACT, rf"{WHO} ?{ADV}(?i:speaks?) (?i:fluent |native |some |a little )?{LANGUAGE}", "language"),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:has|have|suffers? from|'ve got|was diagnosed with|were diagnosed with) "
        rf"(?i:chronic |mild |severe |type \d )*"
        r"(?P<value>(?i:(?:type \d )?diabetes|asthma|migraines?|high blood pressure|hypertension|insomnia|"
        r"arthritis|adhd|epilepsy|"
        r"anemia|depression|anxiety|back pain|celiac disease|dyslexia))\b",
        "health",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:{BE} )?(?i:studied|studying|majored in|majoring in|graduated from|graduated "
        rf"in|{BE} studying) "
        rf"(?!(?i:the|this|that|it|your)\b){VALUE}",
        "education",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:{BE} |will be |'ll be )*(?i:travell?ing|flying|going|visiting|heading|driving|"
        rf"taking a (?:business )?trip) "
        rf"(?i:to )?(?!(?i:To)\b){PLACE}",
        "travel",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} ?{ADV}(?i:{BE} |will be |'ll be )+(?P<value>(?i:on (?:vacation|holiday|leave|parental "
        rf"leave|maternity leave|"
        r"paternity leave|a business trip|call)|out of (?:the )?office|away|unavailable)) (?i:from|until|till|"
        r"next|this|on|in|between|for)\b",
        "schedule",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} {ADV}(?i:has|have|'ve got) (?i:an? |my |our )(?P<value>(?:[\w'-]+ ){{0,2}}?(?i:meeting|"
        rf"appointment|interview|flight|exam|"
        r"demo|presentation|surgery|checkup|wedding|call|review|standup|marathon)) (?i:with [\w ]+? )?(?i:on|"
        r"at|every|tomorrow|next|"
        r"this|in|today)\b",
        "schedule",
    ),
    rule(
        Kind.FACT,
        rf"{WHO} {ADV}(?i:plays?) (?i:the )?(?P<value>(?i:guitar|piano|violin|drums|bass|cello|flute|tennis|"
        rf"football|soccer|basketball|chess|"
        r"badminton|golf|volleyball|hockey|go|ping pong|table tennis|cricket|rugby))\b",
        "hobby",
    ),
    rule(
        Kind.FACT,
        rf"{OWN} {ATTRIBUTE} (?i:for [\w -]+? )?(?i:{BE}|:|=) (?i:now |currently |on |set to |due |called "
        rf")*{PASSING}{VALUE}",
    ),
    rule(
        Kind.FACT,
        rf"(?i:the|our) (?:[\w-]+ ){{0,2}}?{ATTRIBUTE} (?i:of|for) (?i:the )?(?P<who>(?i:project "
        rf")?[A-Z]\w+(?: project)?) "
        rf"(?i:is|was) (?i:now |currently |on |set to |due )*{PASSING}{VALUE}",
    ),
    rule(
        Kind.FACT,
        rf"(?i:the|our) (?:[\w-]+ )?(?P<word>(?i:deadline|budget|release date|launch date|due date|current "
        rf"version)) (?i:is|was) (?i:now |on |set to )*{PASSING}{VALUE}",
    ),
    rule(
        Kind.FACT,
        rf"{PROJECT} ?{ADV}(?i:{BE} )?(?i:{ADV}uses?|using|runs? on|running on|deploys? (?:to|on|with)|"
        rf"deployed (?:to|on|with)|"
        rf"develops? (?:in|on|with)|writes? (?:code )?in|codes? in|written in|built (?:with|on|in)|hosted "
        rf"(?:on|at|in)|targets?|"
        rf"relies on|depends on|requires|works? with|listens on) (?i:port |version )?{VALUE}",
        named=True,
    ),
    rule(
        Kind.FACT,
        r"(?i:the|our) (?:[\w/.-]+ ){0,4}?(?P<word>(?i:server|service|api|endpoint|database|backend|frontend|"
        r"app|site|repo|repository|"
        r"staging|production|environment|port|url|limit|timeout|quota|config|configuration|bucket|queue|"
        r"cluster|docs|documentation|"
        r"branch|domain|hostname|registry|dashboard|key|rate limit|pool size)) (?i:is|are|lives|"
        r"runs|listens|returns|"
        r"accepts|is located|sits) (?i:at |on |in |called |named |set to |limited to )*(?:a |an "
        r")?(?P<value>(?=[^;!?\n]*[\d/:`_]|[A-Z]|\S+\.\w)[^;!?\n]+?)"
        r"(?=[.;!?]?\s*$|[;!?\n])",
    ),
    rule(
        Kind.FACT,
        r"(?i:the|this|that|our) (?:[\w-]+ ){0,4}?(?i:button|form|field|link|menu|page|option|setting|file|"
        r"script|table|widget) "
        r"(?i:is|are|lives|sits) (?:hidden |located )?(?i:inside|within|behind|under) (?P<value>[^.;!?\n]+)",
    ),
)
