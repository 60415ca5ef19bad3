import type { Rule } from "./secret-rules"
import { real, sensitive } from "./secret-value"

// Names beside which a secret stands. Longer ones first: the first that fits is taken.
const WORDS = [
  "password",
  "passwort",
  "passwd",
  "passphrase",
  "pwd",
  "client_secret",
  "secret",
  "token",
  "credential",
  "api_key",
  "api-key",
  "apikey",
  "access_key",
  "access-key",
  "accesskey",
  "private_key",
  "privatekey",
  "encryption_key",
  "encryptionkey",
  "signing_key",
  "signingkey",
  "account_key",
  "accountkey",
  "shared_key",
  "sharedaccesskey",
  "auth_key",
  "authkey",
  "master_key",
  "masterkey",
  "license_key",
  "ssh_key",
  "deploy_key",
  "_auth",
]

const NAMES = WORDS.map((word) => word.replaceAll("-", "\\-")).join("|")

// What makes of such a name something else: a limit, a place, a counter, a page to go on from.
const AFTER =
  /^(?:s|_?-?(?:count|limit|type|length|size|budget|ur[il]|path|file(?:name)?|name|ids?|expir\w*|expiry|ttl|field|header|policy|usage|used|min|max|regex|pattern|label|index|provider|endpoint|hint|prompt|rule|placeholder|version|manager|store|input|error|message|reset|required|strength|format|schema|algorithm))(?:$|[_-]|(?=[A-Z]))/
const AFTER_CAMEL =
  /^(?:Count|Limit|Type|Length|Size|Budget|Ur[il]|Path|File|Name|Id|Expir|TTL|Field|Header|Policy|Usage|Used|Min|Max|Regex|Pattern|Label|Index|Provider|Endpoint|Hint|Prompt|Rule|Placeholder|Version|Manager|Store|Input|Error|Message|Reset|Required|Strength|Format|Schema|Algorithm|izer|ize|ise)/
const BEFORE =
  /(?:^|[^a-z])(?:max|num|page|next|prev|cursor|continuation|continue|sync|cancel|cancellation|public|publickey|syntax|stop|pad|eos|bos|sep|cls|mask|unk|start|end|total|input|output|completion|design|color|no|lexer|css|csrf)[_-]?$/i

const otherwise = (before: string, tail: string) => BEFORE.test(before) || AFTER.test(tail) || AFTER_CAMEL.test(tail)

/** What stands between a word and the beginning of the name that it is a part of. */
const stem = (text: string, at: number) => /[A-Za-z0-9_-]*$/.exec(text.slice(Math.max(0, at - 24), at))?.[0] ?? ""

const assigned = (quoted: boolean) => (match: RegExpExecArray, text: string) => {
  const { word = "", tail = "", value = "" } = match.groups ?? {}
  const before = stem(text, match.index)
  if (otherwise(before, tail)) return false
  // DB_PASSWORD=admin1 is written in no program.
  const variable = /^[A-Z0-9_]*$/.test(before + word + tail) && match[0].startsWith("=", (word + tail).length)
  return sensitive(word, value, quoted || variable)
}

// A quote may be escaped, because the text may be JSON inside JSON.
const QUOTE = String.raw`\\{0,3}["'\x60]`
const HEAD = String.raw`(?<word>${NAMES})(?<tail>[A-Za-z0-9_-]{0,24})(?:${QUOTE})?\]?`
const TYPED = String.raw`(?:[ \t]{0,2}:[ \t]{0,2}[A-Za-z][\w.|]{0,20})?`
const QUOTED_VALUE = String.raw`${QUOTE}(?:b["'])?(?<value>[^"'\x60\\\r\n]{6,256})(?=\\{0,3}["'\x60])`
const BARE_VALUE = String.raw`(?<value>[^\s"'\x60,;&<>(){}[\]|\\]{6,128})`

const pattern = (text: string) => new RegExp(text, "iy")

/** Secrets that are known by what stands beside them. */
export const CONTEXTS: readonly Rule[] = [
  {
    kind: "private-key",
    words: ["-----begin "],
    // Also one whose end was cut off: then as far as it looks like one.
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?<value>(?:[A-Za-z0-9+/=\s,:.-]|\\+[nr]){16,32000})/y,
    accept: (match) => real((match.groups?.value ?? "").slice(0, 200)),
  },
  {
    kind: "putty-key",
    words: ["private-lines:"],
    pattern: /private-lines: \d{1,3}(?<value>(?:[A-Za-z0-9+/=\s]|\\+[nr]){32,32000})/iy,
  },
  {
    kind: "jwt",
    words: ["eyj"],
    pattern:
      /eyJ[A-Za-z0-9_-]{8,2000}\.(?:eyJ[A-Za-z0-9_-]{2,8000}\.[A-Za-z0-9_-]{16,2000}|[\w-]{0,2000}\.[\w-]{8,2000}\.[\w-]{8,8000}\.[\w-]{8,200})/y,
    // The one of every tutorial.
    accept: (match) => !match[0].includes("SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"),
  },
  {
    kind: "url-credentials",
    words: ["://"],
    inside: true,
    pattern: /:\/\/[^\s/?#"'`<>@:]{0,128}:(?<value>[^\s/?#"'`<>@]{3,256})(?=@[\w[.-])/y,
    accept: (match) => {
      const value = match.groups?.value ?? ""
      return real(value) && !/^(?:\$|<|\{|%7B|pass(?:word|wd)?$|pwd$|secret$|token$|user$|\*+$)/i.test(value)
    },
  },
  {
    kind: "authorization",
    words: ["authorization"],
    inside: true,
    pattern: pattern(
      String.raw`authorization(?:${QUOTE})?\]?[ \t]{0,4}[:=,]>?[ \t]{0,4}(?:${QUOTE})?(?:(?<scheme>bearer|basic|token|apikey|api-key|bot|digest|negotiate|splunk)[ \t]{1,4})?(?<value>[A-Za-z0-9+/=_.~:-]{8,4000})`,
    ),
    accept: (match) => {
      const { scheme, value = "" } = match.groups ?? {}
      if (scheme && value.length >= 16 && real(value) && /[A-Z0-9]/.test(value)) return true
      return sensitive("token", value, true)
    },
  },
  {
    kind: "bearer-token",
    words: ["bearer "],
    pattern: /bearer {1,4}(?<value>[A-Za-z0-9+/=_.~-]{12,4000})/iy,
    accept: (match) => sensitive("token", match.groups?.value ?? "", false),
  },
  {
    kind: "cookie",
    words: ["cookie:", 'cookie":', 'cookie\\":'],
    inside: true,
    pattern:
      /cookie(?:\\{0,3}")?:[ \t]{0,4}(?:\\{0,3}")?(?<value>[\w.-]{1,64}=[^\s;"'\\]{12,4000}(?:; ?[\w.-]{1,64}=[^\s;"'\\]{1,4000}){0,20})/iy,
    accept: (match) => real(match[0]) && /\d/.test(match[0]),
  },
  {
    kind: "docker-auth",
    words: ['"auth"', '"auth\\'],
    inside: true,
    pattern: /\\{0,3}"auth\\{0,3}"\s{0,4}:\s{0,4}\\{0,3}"(?<value>[A-Za-z0-9+/=]{16,2000})/y,
    accept: (match) => sensitive("token", match.groups?.value ?? "", true),
  },
  {
    kind: "netrc-password",
    words: ["login "],
    pattern: /login[ \t]{1,4}\S{1,64}\s{1,8}password[ \t]{1,4}(?<value>\S{4,256})/iy,
    accept: (match) => real(match.groups?.value ?? ""),
  },
  {
    kind: "command-password",
    words: ["curl ", "wget "],
    pattern: /(?:curl|wget) [^\r\n|]{0,200}?(?:-u|--user)[ =]["']?[^\s:"'$]{1,64}:(?<value>[^\s"'$]{4,256})/iy,
    accept: (match) => real(match.groups?.value ?? ""),
  },
  {
    kind: "command-password",
    words: ["sshpass -p", "mysql ", "mysqldump ", "--requirepass", "redis-cli "],
    pattern:
      /(?:sshpass -p ?|mysql(?:dump)? [^\r\n|]{0,120}?-p|--requirepass |redis-cli [^\r\n|]{0,120}?-a )["']?(?<value>[^\s"'$=][^\s"'$]{3,255})/iy,
    accept: (match) => real(match.groups?.value ?? "") && !/^-?assword/.test(match.groups?.value ?? ""),
  },
  {
    kind: "azure-sas",
    words: ["sig="],
    pattern: /sig=(?<value>[A-Za-z0-9%+/]{40,120}(?:%3D|=))/iy,
  },
  {
    kind: "seed-phrase",
    words: ["mnemonic", "seed phrase", "seed_phrase", "seedphrase", "recovery phrase"],
    inside: true,
    pattern:
      /(?:mnemonic|(?:seed|recovery)[ _]?phrase)(?:["'`]|\\{1,3}")?[ \t]{0,4}(?:[:=]|is)[ \t]{0,4}(?:["'`]|\\{1,3}")?(?<value>(?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})/iy,
  },
  {
    kind: "secret",
    words: WORDS,
    inside: true,
    // An element of XML or HTML: it ends as it began.
    pattern: pattern(String.raw`(?<word>${NAMES})(?<tail>[A-Za-z0-9_-]{0,24})>(?<value>[^<>\s]{6,256})(?=<\/)`),
    accept: assigned(true),
  },
  {
    kind: "secret",
    words: WORDS,
    inside: true,
    pattern: pattern(`${HEAD}${TYPED}[ \\t]{0,8}(?:=>|:=|[=!]==?|[:=(,])[ \\t]{0,8}${QUOTED_VALUE}`),
    accept: assigned(true),
  },
  {
    kind: "secret",
    words: WORDS,
    inside: true,
    // KEY=value as shells, query strings and connection strings have it.
    pattern: pattern(`${HEAD}(?:=|%3D)(?:${QUOTE})?${BARE_VALUE}`),
    accept: assigned(false),
  },
  {
    kind: "secret",
    words: WORDS,
    inside: true,
    pattern: pattern(`${HEAD}[ \\t]{0,8}(?:=>|:=|[:=])[ \\t]{1,8}${BARE_VALUE}`),
    accept: assigned(false),
  },
  {
    kind: "secret",
    words: WORDS,
    inside: true,
    pattern: pattern(`(?<word>${NAMES})(?<tail>[A-Za-z0-9_-]{0,24})[ \\t]{1,4}(?:is[ \\t]{1,4})?["'\`]?${BARE_VALUE}`),
    accept: spoken,
  },
]

/** "--password x1y2" on a command line, and "the password is x1y2". */
function spoken(match: RegExpExecArray, text: string) {
  const { word = "", tail = "", value = "" } = match.groups ?? {}
  const before = stem(text, match.index)
  if (otherwise(before.replace(/^-+/, ""), tail)) return false
  const option = before.startsWith("-") || /\s-{1,2}$/.test(text.slice(Math.max(0, match.index - 3), match.index))
  const told = /[ \t]is[ \t]/i.test(match[0])
  return (option || told) && sensitive(word, value.replace(/[.!?]$/, ""), option)
}

const NAMED = new RegExp(`(?<word>${NAMES})(?<tail>[A-Za-z0-9_-]{0,24})$`, "i")

// The names of fields are few and come again and again; those that a model makes up are not kept for ever.
const MOST_NAMES = 2_000
const named = new Map<string, string | null>()

/** The word by which the name of a field says that its value is a secret, or nothing. */
function wordIn(name: string): string | null {
  const known = named.get(name)
  if (known !== undefined) return known
  const match = NAMED.exec(name)
  const { word = "", tail = "" } = match?.groups ?? {}
  const found = match && !otherwise(name.slice(0, match.index), tail) ? word : null
  if (named.size >= MOST_NAMES) named.clear()
  named.set(name, found)
  return found
}

/** Whether the value of a field is a secret by the field's name. */
export function sensitiveField(name: string, value: string): boolean {
  if (name === "" || name.length > 64 || value.length < 6 || value.length > 4_000) return false
  const word = wordIn(name)
  return word !== null && !/\s/.test(value) && sensitive(word, value, true)
}
