"""English: the forms in which people say what they prefer, what is so, what is decided and what is learned."""

import re

from afterwit.extract.rules import Found, Rule, first_match
from afterwit.records import Kind

_NOT_A_NAME = (
    r"(?!(?:It|This|That|These|Those|There|They|He|She|You|We|What|Which|Who|Whoever|The|A|An|If|When|While|Everyone|"
    r"Everybody|People|Nobody|Someone|Somebody|Anyone|Nothing|Please|No|Yes|So|But|And|Then|Now|Always|Never|"
    r"Do|Don|Use|Let|Make|My|Our|Your|His|Her|Their|Not|Looks?|Seems?|Sounds?|Feels?|Some|Most|Many|All|Each|Any|Both|One|In|On|At|For|From|With|After|Before|Next|Once)\b)"
)
_NAME = rf"{_NOT_A_NAME}[A-Z][a-z]+(?: (?:[A-Z]\.|[A-Z][a-z]+))?"
_KIN = (
    r"(?i:my|the user's|user's|our) (?i:(?:older |younger |big |little |best |ex-)?(?:wife|husband|partner|spouse|mother|mom|mum|"
    r"father|dad|brother|sister|son|daughter|boyfriend|girlfriend|uncle|aunt|cousin|boss|manager|grandmother|grandfather|"
    r"grandma|grandpa|roommate|mentor|team lead|friend|colleague|coworker|neighbor|neighbour|client))"
)
_SELF = r"(?i:i|we|the user|this user|user)"
#: Whom a personal statement is about.
_WHO = rf"(?P<who>{_SELF}|{_KIN}|{_NAME})"
_PROJECT = (
    r"(?P<who>(?i:i|we|the user|user|(?:our|the|my|this) (?:[\w-]+ ){0,2}?(?:project|team|company|app|service|backend|"
    r"front-?end|api|codebase|repo|repository|site|website|server|cluster|stack|pipeline|infra(?:structure)?|product|"
    r"production|prod|staging|ci|deployment|system|worker|database|monorepo))"
    r"|(?i:the )?(?i:project )?(?:[A-Z][\w-]+)(?i: project| team)?|(?i:production|staging|prod|everyone|project [\w-]+))"
)
_ADV = (
    r"(?:(?i:'ve|have|has|really|usually|always|generally|currently|now|just|still|also|mostly|actually|recently|already|"
    r"personally|typically|strongly|definitely|absolutely|both|all|finally|officially|generally|much|do|does|will|'ll|"
    r"only|exclusively) )*"
)
_BE = r"(?i:am|is|are|'m|'s|'re|was|were)"
#: A character inside a clause: the dot of 3.12 and the comma of 12,000 do not end it.
_C = r"(?:[^.,;!?()\n]|\.(?=\w)|,(?=\d))"
_STOP = r"(?=[;!?()\n]|\.(?!\w)|,(?!\d)|$)"
#: A value: up to where the clause goes on.
_VALUE = (
    rf"(?P<value>{_C}+?)"
    r"(?=(?i: (?:because|since|when|while|whenever|but|so|as|if|and (?:i|we|my|not|no)|instead|over|rather than|to avoid|"
    r"right now|at the moment|these days|now|anymore|any more|every|in (?:case|the)|please|until|which|who|where|last|next|this (?:week|month|year)|yesterday|"
    r"today|tomorrow|\w+ (?:days?|weeks?|months?|years?) ago|for (?:a|the|all|our|my)|from)\b)|[;!?()\n]|\.(?!\w)|,(?!\d)|$)"
)
_PLACE = r"(?P<value>[A-Z][\w'-]+(?:,? (?:[A-Z][\w'-]+|de|of|la))*)"
_CAP = r"(?P<value>[A-Z0-9][\w.&+#'-]*(?: (?:[A-Z0-9][\w.&+#'-]*|of|and|&))*)"
_WHY = r"(?:.*?[,;]? ?(?i:because|since|as|so that|due to|because of|for its|given) (?P<rationale>.+))?"
_JOB = (
    r"(?P<value>(?:[\w/+#.-]+ ){0,4}?(?i:engineer|developer|designer|manager|teacher|doctor|nurse|lawyer|student|scientist|"
    r"researcher|analyst|architect|writer|programmer|consultant|accountant|professor|director|founder|cofounder|co-founder|"
    r"cto|ceo|cfo|freelancer|intern|lead|administrator|sysadmin|chef|pilot|artist|photographer|journalist|editor|dentist|"
    r"pharmacist|therapist|translator|plumber|electrician|carpenter|banker|trader|sre|dba|veterinarian|vet|physicist))\b"
)
_LANGUAGE = (
    r"(?P<value>(?i:simplified chinese|traditional chinese|chinese|mandarin|cantonese|english|japanese|korean|french|"
    r"german|spanish|portuguese|italian|russian|dutch|polish|arabic|hindi|turkish|vietnamese|thai|swedish|greek|hebrew))\b"
)
_VERBS = (
    r"(?i:use|add|commit|push|write|mock|put|store|log|call|import|install|run|edit|modify|touch|deploy|merge|rebase|"
    r"squash|format|name|return|expose|hard-?code|delete|remove|create|generate|include|catch|skip|rely|depend|suggest|"
    r"mention|send|share|answer|reply|respond|ask|assume|change|refactor|rewrite|translate|upgrade|enable|disable|"
    r"cache|wrap|test|validate|escape|check|keep|show|give|explain|quote|print|save|prefix|sign|document|pin|lint)"
)
_DEICTIC = r"(?!.*\b(?i:this (?:file|line|one|test|function|time)|that (?:file|line|one|test|function)|yet|just now)\b)(?! (?:it|this|that|them)\b)"
#: Adjectives that say how something is going, not what it is.
_PASSING = (
    r"(?!(?i:not|down|up|broken|slow|fast|failing|wrong|empty|full|missing|ready|fine|ok|okay|good|bad|great|gone|stuck|"
    r"being|getting|going|still|too|very|so|really|quite|a bit|kind of|just|here|there|done|hard|easy|better|worse|"
    r"important|killing|driving|due to|more|also|that|what|how|why|unclear|unknown|tbd|changing|good)\b)"
)
_OWN = (
    rf"(?P<who>(?i:my|our|the user's|user's|{_NAME}'s|(?:the )?project(?: [\w-]+)?'s|the project)|{_KIN}'s|{_NAME}'s)"
)
_ATTRIBUTE = (
    r"(?P<word>(?i:name|full name|birthday|date of birth|age|hometown|birthplace|time ?zone|phone(?: number)?|mobile(?: number)?|"
    r"email(?: address)?|e-mail|job title|job|occupation|employer|company|marital status|height|gender|deadline|due date|"
    r"budget|current version|version|package manager|home address|native language|native tongue|diet|blood type|"
    r"working hours|editor|ide|operating system|os|database|cloud provider|framework|programming language|standup|"
    r"daily standup|stand-up|reply language|preferred language|degree|release date|launch date|ci|hobby|status))"
)


def _rule(kind: Kind, pattern: str, topic: str = "", **more: object) -> Rule:
    return Rule(kind, re.compile(pattern), topic, **more)  # type: ignore[arg-type]


_PREFERENCES = (
    _rule(
        Kind.PREFERENCE,
        r"(?i:(?:please |always |do |could you |you should |i(?:'d| would) like you to |i want you to |kindly )*"
        r"(?:answer|reply|respond|write|speak|talk|communicate|explain)(?: \w+){0,4}? in) "
        rf"{_LANGUAGE}",
        "reply_language",
    ),
    _rule(
        Kind.PREFERENCE,
        rf"{_WHO} {_ADV}(?i:prefers?|wants?|likes?) (?:(?i:the |all |your |my |to (?:get|have|read|receive) )*)(?i:answers|"
        rf"replies|responses|explanations|summaries|messages|output)(?: to be)?(?P<value> [\w -]+)?",
        "reply_style",
    ),
    _rule(
        Kind.PREFERENCE,
        r"(?i:(?:please |always |i want you to |i'd like you to )*(?:keep|make) (?:your |the |all |all your )*(?:answers|replies|"
        r"responses|explanations|messages|summaries|output)) (?P<value>[\w -]+)",
        "reply_style",
    ),
    _rule(
        Kind.PREFERENCE,
        r"(?i:(?:please |always )*be (?:more |very |as )*)(?P<value>(?i:concise|brief|terse|direct|succinct|verbose|detailed|formal|"
        r"informal|blunt))\b",
        "reply_style",
    ),
    _rule(
        Kind.PREFERENCE,
        rf"{_WHO} ?{_ADV}(?i:prefers?|favou?rs?|would rather(?: use| have)?|'d rather(?: use| have)?|would prefer|'d prefer) "
        rf"(?!(?i:it|this|that|them|not to answer)\b)(?i:to use |using |to )?{_VALUE}"
        rf"(?: (?i:over|to|instead of|rather than|than) (?P<rejected>{_C}+?))?(?:{_STOP}|(?= (?i:for|when|because)\b))",
    ),
    _rule(
        Kind.PREFERENCE,
        rf"(?P<who>(?i:my|the user's|user's|our)|{_KIN}'s|{_NAME}'s) (?i:all-time )?(?i:favou?rite|preferred|go-to) "
        rf"(?P<word>[\w-]+(?: \w+)?) {_BE} {_PASSING}{_VALUE}",
    ),
    _rule(
        Kind.PREFERENCE,
        rf"{_WHO} {_ADV}(?i:likes?|loves?|enjoys?|adores?|hates?|dislikes?|detests?|can't stand|cannot stand|"
        rf"(?:am|is|'m|are) (?:a (?:big |huge )?fan of|fond of|really into|into)|(?:don't|do not|doesn't|does not) "
        rf"(?:really |particularly )?(?:like|enjoy|care for)) "
        rf"(?!(?i:it|this|that|these|those|them|you|your|him|her|how|the (?:idea|way|look|new|result|first|second)|what|where|"
        rf"when you|to (?:think|say|ask|know|see if|thank|start)|one|both|either|my|yours)\b){_VALUE}",
    ),
    _rule(
        Kind.PREFERENCE,
        rf"{_WHO} {_ADV}(?i:don't|do not|doesn't|does not|never|can't|cannot|no longer) (?:(?i:ever|really|usually) )?"
        rf"(?i:eats?|drinks?|smokes?) (?!(?i:it|that|this|yet|breakfast today)\b){_VALUE}",
        "diet",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}{_BE} (?i:an? )?(?i:strict |lifelong )?(?P<value>(?i:vegetarian|vegan|pescatarian|lactose[- ]intolerant|"
        r"gluten[- ]free|kosher|halal|teetotal|celiac|coeliac))\b",
        "diet",
    ),
    _rule(
        Kind.PREFERENCE,
        rf"(?i:please )?(?i:call me|address me as) (?!(?i:back|later|when|if|at|on|tomorrow|a|an|the|crazy)\b)(?P<value>[A-Z]\w+)",
        "name",
    ),
)
_CHANGES = (
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:moved|relocated|are moving|is moving|am moving|'m moving) (?i:back )?(?i:from [A-Z][\w ,]*? )?(?i:to) "
        rf"(?![\w.+#]* ?(?i:kubernetes|docker|aws|gcp|azure|github|gitlab|postgres\w*|mysql|mongodb|redis|linux|python|"
        rf"typescript|rust|go|react|vue|pnpm|yarn|bun|uv|vim|neovim|vs ?code|windows|macos|slack|jira|notion|linear)\b){_PLACE}",
        "residence",
        is_change=True,
    ),
    _rule(
        Kind.FACT,
        rf"{_PROJECT} ?{_ADV}(?i:(?:switched|migrated|moved|upgraded|converted|changed|switching|migrating|moving) "
        rf"(?:over )?(?:[\w ]+? )?(?:from (?P<rejected>[\w.+# -]+?) )?to|(?:are|is|'re) (?:switching|migrating|moving) to|replaced "
        rf"(?P<action>[\w.+#-]+) with) {_VALUE}",
        is_change=True,
        named=True,
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:joined|started (?:working )?at|got a (?:new )?job at|have a new job at|changed jobs to|was hired by) "
        rf"(?![A-Z]\w+ (?i:channel|call|meeting)\b){_CAP}",
        "employer",
        is_change=True,
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:got promoted to|was promoted to|became an?|have become an?|{_BE} now an?|{_BE} now the|changed jobs to) "
        rf"{_JOB}",
        "job_title",
        is_change=True,
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} {_ADV}(?i:got) (?P<value>(?i:married|divorced|engaged))\b",
        "marital_status",
        is_change=True,
    ),
    _rule(
        Kind.FACT,
        rf"{_PROJECT} ?{_ADV}(?i:no longer uses?|stopped using|quit using|dropped|deprecated|don't use|do not use|doesn't use|does not use"
        rf"|abandoned|got rid of|are dropping|is dropping) {_VALUE}",
        is_change=True,
        named=True,
    ),
    _rule(
        Kind.FACT,
        rf"(?P<who>(?i:the|our|my)) (?P<word>(?i:deadline|due date|release date|launch date|budget|version|standup|stand-up)) "
        rf"(?i:for [\w -]+? )?(?i:has |have |was |got |is )*(?i:moved|changed|pushed|extended|raised|cut|now|postponed|shifted|"
        rf"increased|reduced|set) (?i:back |up |out )?(?i:to |at |is |until )?(?i:from [\w ,$-]+? to )?{_VALUE}",
        is_change=True,
    ),
)
_FACTS = (
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:{_BE} )?(?i:lives?|living|resides?|based|located|stay) (?i:and work )?(?i:in|near|out of) "
        rf"(?i:downtown |central |the )?{_PLACE}",
        "residence",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:{_BE} )?(?i:works?|working|employed)(?: (?i:full-time|part-time|remotely))? (?i:at|for|by) "
        rf"(?i:the )?{_CAP}",
        "employer",
    ),
    _rule(Kind.FACT, rf"{_WHO} ?{_ADV}(?i:works?|working|{_BE} working) (?i:as) (?i:an? |the )?{_JOB}", "job_title"),
    _rule(Kind.FACT, rf"{_WHO} ?{_ADV}{_BE} {_ADV}(?i:an? |the ){_JOB}(?! (?i:of all|too|account)\b)", "job_title"),
    _rule(
        Kind.FACT,
        rf"(?P<who>(?i:my|the user's|user's)|{_KIN}'s) (?i:full |real |first |last )?name {_BE} (?P<value>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*)",
        "name",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:{_BE}|turned|just turned) {_ADV}(?P<value>\d{{1,3}})(?i: years old)(?! project)",
        "age",
    ),
    _rule(Kind.FACT, rf"{_WHO} ?{_ADV}(?i:just )?(?i:turned) (?P<value>\d{{1,2}})\b", "age"),
    _rule(Kind.FACT, rf"{_WHO} (?i:was|were) born on (?P<value>{_C}+?){_STOP}", "birthday"),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:was born in|were born in|grew up in|{_BE} originally from|comes? from|{_BE} from) {_PLACE}",
        "birthplace",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}{_BE} (?i:severely |very |deathly |highly |mildly )?(?i:allergic to) {_VALUE}",
        "allergy",
    ),
    _rule(Kind.FACT, rf"{_WHO} {_ADV}(?i:has|have|'ve got|got) (?i:an? )(?:\w+ )?(?i:allergy to) {_VALUE}", "allergy"),
    _rule(Kind.FACT, rf"{_WHO} {_ADV}(?i:has|have) (?i:an? )(?:\w+ )?(?P<value>[\w-]+) (?i:allergy)\b", "allergy"),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}{_BE} {_ADV}(?P<value>(?i:married|divorced|engaged|widowed|single))(?=(?i: to\b| now| with)|[.,;!]|$)",
        "marital_status",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} {_ADV}(?i:has|have|'ve got|got|adopted) (?P<value>(?:(?i:an?|one|two|three|four|five|\d+) )(?:[\w-]+ ){{0,2}}?"
        r"(?i:kids?|child|children|sons?|daughters?|twins|baby|babies|boys?|girls?))\b",
        "children",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} {_ADV}(?i:has|have|'ve got|got|adopted|own|owns) (?P<value>(?:(?i:an?|one|two|three|four|five|\d+) )(?:[\w-]+ ){{0,2}}?"
        r"(?i:dogs?|cats?|puppy|puppies|kittens?|parrots?|rabbits?|hamsters?|goldfish|turtles?|horses?))\b",
        "pet",
    ),
    _rule(Kind.FACT, rf"{_WHO} ?{_ADV}(?i:speaks?) (?i:fluent |native |some |a little )?{_LANGUAGE}", "language"),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:has|have|suffers? from|'ve got|was diagnosed with|were diagnosed with) (?i:chronic |mild |severe |type \d )*"
        r"(?P<value>(?i:(?:type \d )?diabetes|asthma|migraines?|high blood pressure|hypertension|insomnia|arthritis|adhd|epilepsy|"
        r"anemia|depression|anxiety|back pain|celiac disease|dyslexia))\b",
        "health",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:{_BE} )?(?i:studied|studying|majored in|majoring in|graduated from|graduated in|{_BE} studying) "
        rf"(?!(?i:the|this|that|it|your)\b){_VALUE}",
        "education",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:{_BE} |will be |'ll be )*(?i:travell?ing|flying|going|visiting|heading|driving|taking a (?:business )?trip) "
        rf"(?i:to )?(?!(?i:To)\b){_PLACE}",
        "travel",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} ?{_ADV}(?i:{_BE} |will be |'ll be )+(?P<value>(?i:on (?:vacation|holiday|leave|parental leave|maternity leave|"
        r"paternity leave|a business trip|call)|out of (?:the )?office|away|unavailable)) (?i:from|until|till|next|this|on|in|between|for)\b",
        "schedule",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} {_ADV}(?i:has|have|'ve got) (?i:an? |my |our )(?P<value>(?:[\w'-]+ ){{0,2}}?(?i:meeting|appointment|interview|flight|exam|"
        r"demo|presentation|surgery|checkup|wedding|call|review|standup|marathon)) (?i:with [\w ]+? )?(?i:on|at|every|tomorrow|next|"
        r"this|in|today)\b",
        "schedule",
    ),
    _rule(
        Kind.FACT,
        rf"{_WHO} {_ADV}(?i:plays?) (?i:the )?(?P<value>(?i:guitar|piano|violin|drums|bass|cello|flute|tennis|football|soccer|basketball|chess|"
        r"badminton|golf|volleyball|hockey|go|ping pong|table tennis|cricket|rugby))\b",
        "hobby",
    ),
    _rule(
        Kind.FACT,
        rf"{_OWN} {_ATTRIBUTE} (?i:for [\w -]+? )?(?i:{_BE}|:|=) (?i:now |currently |on |set to |due |called )*{_PASSING}{_VALUE}",
    ),
    _rule(
        Kind.FACT,
        rf"(?i:the|our) (?:[\w-]+ ){{0,2}}?{_ATTRIBUTE} (?i:of|for) (?i:the )?(?P<who>(?i:project )?[A-Z]\w+(?: project)?) "
        rf"(?i:is|was) (?i:now |currently |on |set to |due )*{_PASSING}{_VALUE}",
    ),
    _rule(
        Kind.FACT,
        rf"(?i:the|our) (?:[\w-]+ )?(?P<word>(?i:deadline|budget|release date|launch date|due date|current version)) (?i:is|was) (?i:now |on |set to )*{_PASSING}{_VALUE}",
    ),
    _rule(
        Kind.FACT,
        rf"{_PROJECT} ?{_ADV}(?i:{_BE} )?(?i:{_ADV}uses?|using|runs? on|running on|deploys? (?:to|on|with)|deployed (?:to|on|with)|"
        rf"develops? (?:in|on|with)|writes? (?:code )?in|codes? in|written in|built (?:with|on|in)|hosted (?:on|at|in)|targets?|"
        rf"relies on|depends on|requires|works? with|listens on) (?i:port |version )?{_VALUE}",
        named=True,
    ),
    _rule(
        Kind.FACT,
        r"(?i:the|our) (?:[\w/.-]+ ){0,4}?(?P<word>(?i:server|service|api|endpoint|database|backend|frontend|app|site|repo|repository|"
        r"staging|production|environment|port|url|limit|timeout|quota|config|configuration|bucket|queue|cluster|docs|documentation|"
        r"branch|domain|hostname|registry|dashboard|key|rate limit|pool size|login button)) (?i:is|are|lives|runs|listens|returns|"
        r"accepts|is located|sits) (?i:at |on |in |called |named |set to |limited to )*(?:a |an )?(?P<value>(?=[^;!?\n]*[\d/:`_]|[A-Z]|\S+\.\w)[^;!?\n]+?)"
        r"(?=[.;!?]?\s*$|[;!?\n])",
    ),
)
_CONSTRAINTS = (
    _rule(
        Kind.CONSTRAINT,
        rf"(?i:(?:please |let's |you should |we should |just )*(?:use|switch to|go with|try|install|import|call|run) )(?P<chosen>{_C}+?),? "
        rf"(?i:instead of|rather than|not|and not|in place of|over) (?P<rejected>{_C}+)",
        is_change=True,
    ),
    _rule(
        Kind.CONSTRAINT,
        rf"(?i:(?:please )?(?:don't|do not|dont|stop|avoid|never) (?:use|using|install|import|call|run|installing)) (?P<rejected>{_C}+?)[,;.] "
        rf"?(?i:please )?(?i:use|install|import|call|run|go with|prefer) (?P<chosen>{_C}+?)(?i: instead)?{_STOP}",
        is_change=True,
    ),
    _rule(
        Kind.CONSTRAINT,
        rf"(?i:instead of (?:using )?)(?P<rejected>{_C}+?), (?i:please )?(?i:use|run|call) (?P<chosen>{_C}+)",
        is_change=True,
    ),
    _rule(
        Kind.CONSTRAINT,
        rf"(?i:from now on|going forward|in (?:the )?future|as of now),? (?i:please )?(?=.*\b{_VERBS}|.*\b(?i:must|should|need)\b).+",
        is_change=True,
    ),
    _rule(
        Kind.CONSTRAINT,
        rf"(?i:please |you (?:must|should) |make sure (?:to|that you|you) |we |i want you to |remember to )*(?i:always|never|under no circumstances) {_VERBS}\b{_DEICTIC}.+",
    ),
    _rule(Kind.CONSTRAINT, rf"(?i:please )?(?i:don't|do not|dont) (?i:ever )?{_VERBS}\b{_DEICTIC} .+"),
    _rule(Kind.CONSTRAINT, rf"(?i:please )?(?i:avoid|stop) (?i:\w+ing|the use of)\b{_DEICTIC} .+"),
    _rule(
        Kind.CONSTRAINT,
        r"(?!(?i:you|he|she|it|that|this|there|i|they|someone|something)(?:'ve)? (?i:must|may|shall|can))"
        r"(?=[^?]*\b(?i:must|must not|mustn't|shall|shall not|may not|should always|should never|is not allowed|are not allowed|"
        r"is forbidden|are forbidden|is prohibited|are prohibited|is mandatory|are mandatory|only allowed|are required to|"
        r"has to be|have to be|must never|need to be|needs to be|not permitted)\b)(?i:\S+ ){1,8}?(?i:must|mustn't|shall|may not|should (?:always|never)|"
        r"(?:is|are) (?:not allowed|forbidden|prohibited|mandatory|only allowed|required to|not permitted)|(?:has|have|needs?) to be)\b.+",
    ),
    _rule(Kind.CONSTRAINT, r"(?i:constraint|requirement|rule|convention|policy)s?: .+"),
    _rule(
        Kind.CONSTRAINT,
        r"(?i:no) (?:[\w-]+ ){1,4}(?i:in (?:the )?(?:code|comments|commits?|production|tests|repo|answers|replies)|allowed|on fridays?|without \w+)\b.*",
    ),
)
_DECISIONS = (
    _rule(Kind.DECISION, rf"(?i:decision|decided|we decided)(?i::| that) ?{_VALUE}{_WHY}"),
    _rule(
        Kind.DECISION,
        rf"(?i:(?P<who>we|i|the user|user|the team|our team|they|project \w+|{_NAME})(?:'ve| have| has)? (?:finally |all |also |already |just )*)"
        rf"(?i:chose|chosen|picked|selected|opted for|settled on|decided on|decided for) (?i:to use )?(?P<chosen>{_C}+?)"
        rf"(?: (?i:over|instead of|rather than|and not|not) (?P<rejected>{_C}+?))?(?i: for (?:the |our )?[\w ]+?)?"
        rf"(?:,? (?i:because|since|as|so that|due to|because of|for its|given) (?P<rationale>.+)|{_STOP})",
    ),
    _rule(
        Kind.DECISION,
        rf"(?i:(?P<who>we|i|the user|user|the team|our team|let's|let us)(?:'ve|'re|'ll| have| has| are| will)? (?:finally |all |also |already |just )*)"
        rf"(?i:go(?:ing|ne)? with|went with|stick(?:ing)? (?:with|to)|sticking with) (?!(?i:it|that|this|him|her|them|my|you)\b)(?P<chosen>[A-Z0-9]{_C}*?|[\w-]+)"
        rf"(?: (?i:over|instead of|rather than|and not|not) (?P<rejected>{_C}+?))?(?i: for (?:the |our )?[\w ]+?)?"
        rf"(?:,? (?i:because|since|as|so that|due to|because of|for its|given) (?P<rationale>.+)|{_STOP})",
    ),
    _rule(
        Kind.DECISION,
        rf"(?i:(?P<who>we|i|the user|user|the team|our team|{_NAME})(?:'ve| have| has)? (?:finally |all |also |already |just )*)"
        rf"(?i:decided|agreed|chose|resolved|opted) (?i:not )?(?i:to|that|on|against) (?P<chosen>{_C}+?)"
        rf"(?:,? (?i:because|since|as|so that|due to|because of|given) (?P<rationale>.+)|{_STOP})",
    ),
    _rule(
        Kind.DECISION,
        rf"(?P<chosen>[A-Z][\w.+# -]*?) (?i:was|were|has been) (?i:chosen|picked|selected)(?: (?i:over|instead of|rather than) (?P<rejected>{_C}+?))?{_WHY}",
    ),
    _rule(
        Kind.DECISION,
        r"(?i:option|plan|approach|proposal) (?P<rejected>\w+) (?i:was|is|has been) (?i:rejected|ruled out|dropped)(?:,? (?i:because|since|as|due to) (?P<rationale>.+))?",
    ),
)
_INTENTS = (
    _rule(Kind.INTENT, r"(?P<trigger>(?i:next time(?: (?:we|you|i) [^,]+)?)),? (?!(?i:for sure|then)\b).*\w+.*"),
    _rule(
        Kind.INTENT,
        r"(?i:(?:please |can you )*remind me) (?i:(?:next time|tomorrow|later|on \w+)? ?(?:to|about|of|that)) .+",
    ),
    _rule(Kind.INTENT, r"(?:TODO|Todo|todo|FIXME|To do|Follow[- ]up)(?i: later)?\s?[:(-].+|TODO later\b.*"),
    _rule(Kind.INTENT, r"(?i:please )?(?i:don't forget|do not forget|remember) (?i:to) .+"),
    _rule(
        Kind.INTENT,
        r"(?P<trigger>(?i:later|at some point|eventually|some ?day|tomorrow|next (?:week|month|sprint|quarter|release)|when (?:we|you|i) (?:have|get|find) "
        r"(?:some )?time|after the (?:release|launch|demo|migration)|(?:once|when|after) [^,]+)),? (?i:please )?(?i:we|you|i|let's)(?i:'ll|'d)? ?"
        r"(?i:should|need to|want to|will|must|have to|can|look|fix|remind|plan to|am going to)\b.+",
    ),
    _rule(
        Kind.INTENT,
        r"(?P<trigger>(?i:once|when|after) [^,]+), (?i:please )?(?i:remind|look at|revisit|check|clean up|remove|delete|switch)\b.+",
    ),
    _rule(
        Kind.INTENT,
        r"(?i:(?:we|you|i|let's)(?:'ll|'d)? ?(?:should|need to|want to|will|must|have to|plan to|still need to|still have to|revisit|come back)\b.*\b)(?P<trigger>(?i:later|next time|next (?:week|sprint|month|quarter)|"
        r"at some point|another time|when we have time|after the (?:release|launch|demo)))\W*$",
    ),
    _rule(Kind.INTENT, r"(?i:when you have (?:some )?time|if you have time|when there is time),? (?i:please )?\w+.*"),
)
_LESSONS = (
    _rule(
        Kind.LESSON,
        r"(?i:lessons?(?: learn(?:ed|t))?|gotcha|pitfall|takeaway|key insight|insight|tip|note to self|til)s?: .+",
    ),
    _rule(Kind.LESSON, r"(?i:it )?(?i:turns out|turned out)(?i: that)?,? (?P<result>.+)"),
    _rule(
        Kind.LESSON,
        r"(?i:the )?(?i:root cause|real cause|cause|underlying (?:issue|problem)|problem|issue|culprit|reason)(?i: of [^,]+?| for [^,]+?| why [^,]+?)? (?i:was|is|turned out to be) (?i:that )?(?!(?i:fixed|solved|gone|unknown|still|not|unclear|resolved|here|with you)\b)(?P<situation>[^;]+)(?:; (?P<action>.+))?",
        gives={"nature": "pitfall"},
    ),
    _rule(
        Kind.LESSON,
        r"(?i:the )?(?i:fix|solution|workaround|trick|answer|right way)(?i: for [^,]+?| to [^,]+?)? (?i:was|is) (?i:to |that )?(?!(?i:not|in|on|ready|merged|deployed|done)\b)(?P<action>.+)",
        gives={"nature": "technique"},
    ),
    _rule(
        Kind.LESSON,
        r"(?i:(?:we|i|user|the user)(?:'ve| have)? (?:learn(?:ed|t)|discovered|figured out|realized|found(?: out)?)) (?i:that )(?P<result>.+)",
    ),
    _rule(
        Kind.LESSON,
        r"(?P<situation>[^,;?]+?) (?i:only works?|works? only|fails?|breaks?|crashes|hangs|times out|errors out|silently \w+|won't \w+|does not work|doesn't work) (?P<trigger>(?i:if|when|unless|with|without|after|on|because|before)\b.+)",
        gives={"nature": "pitfall"},
    ),
    _rule(
        Kind.LESSON,
        r"(?i:to|in order to) (?i:avoid|fix|prevent|solve|get around|work around|stop) (?P<situation>[^,]+), (?P<action>.+)",
        gives={"nature": "technique"},
    ),
    _rule(
        Kind.LESSON,
        r"(?i:if|when(?:ever)?) (?!(?i:i|we) (?i:were|was|had|lived|could))(?P<situation>[^,]+?(?i:fails?|error|errors|returns?|times out|crashes|hangs|happens|see|get|shows?|breaks?)\b[^,]*), (?i:then )?(?P<action>(?!(?i:please|can|could|what|let me|tell me|remind)\b).+)",
        gives={"nature": "technique"},
    ),
    _rule(
        Kind.LESSON,
        r"(?i:the|this|that|our|all)?\s?(?:[\w/.-]+ ){0,4}?(?P<word>(?i:api|endpoint|service|server|sdk|library|cli|command|client|request|requests|migration|build|test|tests|container|image|plugin|driver|parser|webhook|importer|upload|deploy|package|header|auth|authentication|query|job)) (?i:needs|need|requires|require|expects|expect|ignores|rejects|wants) (?!(?i:to be (?:fixed|done|updated)|work|help|attention|a (?:fix|review|rewrite|refactor)|more|your|fixing)\b)(?P<result>.+)",
    ),
    _rule(
        Kind.LESSON,
        r"(?P<action>[^,;?]+?) (?i:fixed|solved|resolved|cured|did the trick for) (?P<situation>(?i:the|it|this|that)\b.+)",
        gives={"nature": "technique"},
    ),
    _rule(Kind.LESSON, r"(?i:be careful|beware|watch out|careful)(?i: with| of|:|,)? .+", gives={"nature": "pitfall"}),
)
_FAILURES = (
    _rule(
        Kind.FAILURE,
        r"(?i:(?:we|i|user|the user|agent)(?:'ve| have)? )?(?i:tried|attempted) (?P<action>.+?),? (?i:but|and|however)(?i: it| that| this| they)? (?P<result>.*(?i:fail|didn't|did not|broke|crash|error|no luck|no effect|wouldn't|hung|timed out).*)",
    ),
    _rule(
        Kind.FAILURE,
        r"(?P<action>[^,;?]+?) (?i:failed|didn't work|did not work|broke|crashed) (?i:because|due to|since|as) (?P<result>.+)",
    ),
)

#: Earlier groups win: a decision about a tool is a decision, not a fact about it.
RULES: tuple[Rule, ...] = (
    *_DECISIONS,
    *_FAILURES,
    *_PREFERENCES,
    *_CHANGES,
    *_INTENTS,
    *_FACTS,
    *_LESSONS,
    *_CONSTRAINTS,
)


def read(sentence: str) -> Found | None:
    """What a sentence (`lead` already taken off) says, or None when no form is sure."""
    return first_match(RULES, sentence)
