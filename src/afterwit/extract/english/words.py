"""Pieces of which the English forms are made: names, values, verbs."""

NOT_A_NAME = (
    r"(?!(?:It|This|That|These|Those|There|They|He|She|You|We|What|Which|Who|Whoever|The|A|An|If|When|While|Everyone|"
    r"Everybody|People|Nobody|Someone|Somebody|Anyone|Nothing|Please|No|Yes|So|But|And|Then|Now|Always|Never|"
    r"Do|Don|Use|Let|Make|My|Our|Your|His|Her|Their|Not|Looks?|Seems?|Sounds?|Feels?|Some|Most|Many|All|"
    r"Each|Any|Both|One|In|On|At|For|From|With|After|Before|Next|Once|Also|Just|Still|Maybe|Even|Only|Here|Today|"
    r"Yesterday|Tomorrow|Last|Had|Have|Having|Got|[A-Z][a-z]+ly)\b)"
)
NAME = rf"{NOT_A_NAME}[A-Z][a-z]+(?: (?:[A-Z]\.|[A-Z][a-z]+))?"
KIN = (
    r"(?i:my|the user's|user's|our) (?i:(?:older |younger |big |little |best |ex-)?(?:wife|husband|"
    r"partner|spouse|mother|mom|mum|"
    r"father|dad|brother|sister|son|daughter|boyfriend|girlfriend|uncle|aunt|cousin|boss|manager|"
    r"grandmother|grandfather|"
    r"grandma|grandpa|roommate|mentor|team lead|friend|colleague|coworker|neighbor|neighbour|client))"
)
SELF = r"(?i:i|we|the user|this user|user)"
#: Whom a personal statement is about.
WHO = (
    rf"(?P<who>{SELF}|{KIN}|{NAME}(?! (?i:like|love|enjoy|hate|prefer|dislike|want|live|work|play|speak|"
    rf"have|own|eat|drink|"
    r"study|use|run)\b))"
)
PROJECT = (
    rf"(?P<who>(?i:i|we|the user|user|(?:our|the|my|this) (?:[\w-]+ ){{0,2}}?(?:project|team|company|app|"
    rf"service|backend|"
    rf"front-?end|api|codebase|repo|repository|site|website|server|cluster|stack|pipeline|"
    rf"infra(?:structure)?|product|"
    rf"production|prod|staging|ci|deployment|system|worker|database|monorepo))"
    rf"|(?i:the )?(?i:project )?{NOT_A_NAME}(?:[A-Z][\w-]+)(?i: project| team)?|(?i:production|staging|prod|everyone|"
    rf"project [\w-]+))"
)
ADV = (
    r"(?:(?i:'ve|have|has|really|usually|always|generally|currently|now|just|still|also|mostly|actually|"
    r"recently|already|"
    r"personally|typically|strongly|definitely|absolutely|both|all|finally|officially|generally|much|do|"
    r"does|will|'ll|"
    r"only|exclusively) )*"
)
BE = r"(?i:am|is|are|'m|'s|'re|was|were)"
#: A character inside a clause: the dot of 3.12 and the comma of 12,000 do not end it.
C = r"(?:[^.,;!?()\n]|\.(?=\w)|,(?=\d))"
STOP = r"(?=[;!?()\n]|\.(?!\w)|,(?!\d)|$)"
#: A value: up to where the clause goes on.
VALUE = (
    rf"(?P<value>{C}+?)"
    r"(?=(?i: (?:because|since|when|while|whenever|but|so|as|if|and (?:i|we|my|not|no)|instead|over|"
    r"rather than|to avoid|"
    r"right now|at the moment|these days|now|anymore|any more|every|in (?:case|the)|please|until|which|"
    r"who|where|in (?:january|february|march|april|may|june|july|august|september|october|november|"
    r"december|20\d\d)|last|next|this (?:week|month|year)|yesterday|"
    r"today|tomorrow|\w+ (?:days?|weeks?|months?|years?) ago|for|from|with|and (?:i'm|am|want|need|have|"
    r"then|would|will|is|was)|to (?:get|make|build|handle|help|manage))\b)|[;!?()\n]|\.(?!\w)|,(?!\d)|$)"
)
PLACE = r"(?P<value>[A-Z][\w'-]+(?:,? (?:[A-Z][\w'-]+|de|of|la))*)"
CAP = r"(?P<value>[A-Z0-9][\w.&+#'-]*(?: (?:[A-Z0-9][\w.&+#'-]*|of|and|&))*)"
WHY = r"(?:.*?[,;]? ?(?i:because|since|as|so that|due to|because of|for its|given) (?P<rationale>.+))?"
JOB = (
    r"(?P<value>(?!(?i:best|worst|great|good|terrible|bad|nice|such|big) )(?:[\w/+#.-]+ "
    r"){0,4}?(?i:engineer|developer|designer|manager|teacher|doctor|nurse|lawyer|"
    r"student|scientist|"
    r"researcher|analyst|architect|writer|programmer|consultant|accountant|professor|director|founder|"
    r"cofounder|co-founder|"
    r"cto|ceo|cfo|freelancer|intern|lead|administrator|sysadmin|chef|pilot|artist|photographer|journalist|"
    r"editor|dentist|"
    r"pharmacist|therapist|translator|plumber|electrician|carpenter|banker|trader|sre|dba|veterinarian|"
    r"vet|physicist))\b"
)
LANGUAGE = (
    r"(?P<value>(?i:simplified chinese|traditional chinese|chinese|mandarin|cantonese|english|japanese|korean|french|"
    r"german|spanish|portuguese|italian|russian|dutch|polish|arabic|hindi|turkish|vietnamese|thai|swedish|"
    r"greek|hebrew))\b"
)
VERBS = (
    r"(?i:use|add|commit|push|write|mock|put|store|log|call|import|install|run|edit|modify|touch|deploy|merge|rebase|"
    r"squash|format|name|return|expose|hard-?code|delete|remove|create|generate|include|catch|skip|rely|"
    r"depend|suggest|"
    r"mention|send|share|answer|reply|respond|ask|assume|change|refactor|rewrite|translate|upgrade|enable|disable|"
    r"cache|wrap|test|validate|escape|check|explain|quote|print|save|prefix|sign|document|pin|lint)"
)
DEICTIC = (
    r"(?!.*\b(?i:this (?:file|line|one|test|function|time)|that (?:file|line|one|test|function)|yet|just "
    r"now)\b)(?! (?:it|this|that|them)\b)"
)
#: Adjectives that say how something is going, not what it is.
PASSING = (
    r"(?!(?i:not|down|up|broken|slow|fast|failing|wrong|empty|full|missing|ready|fine|ok|okay|good|bad|"
    r"great|gone|stuck|"
    r"being|getting|going|still|too|very|so|really|quite|a bit|kind of|just|here|there|done|hard|easy|better|worse|"
    r"important|killing|driving|due to|more|also|that|what|how|why|unclear|unknown|tbd|changing|good)\b)"
)
OWN = rf"(?P<who>(?i:my|our|the user's|user's|{NAME}'s|(?:the )?project(?: [\w-]+)?'s|the project)|{KIN}'s|{NAME}'s)"
ATTRIBUTE = (
    r"(?P<word>(?i:name|full name|birthday|date of birth|age|hometown|birthplace|time ?zone|phone(?: "
    r"number)?|mobile(?: number)?|"
    r"email(?: address)?|e-mail|job title|job|occupation|employer|company|marital status|height|gender|"
    r"deadline|due date|"
    r"budget|current version|version|package manager|home address|native language|native tongue|diet|blood type|"
    r"working hours|editor|ide|operating system|os|database|cloud provider|framework|programming language|standup|"
    r"daily standup|stand-up|reply language|preferred language|degree|release date|launch date|ci|hobby|status))"
)
WEEKDAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
