/** A secret and the text in which it stands; `value` is what must not be found again. */
export type Planted = { kind: string; value: string; text: string }

// Between the pieces of what a scanner would take for a leak.
const _ = ""

const LOWER = "abcdefghijklmnopqrstuvwxyz"
const UPPER = LOWER.toUpperCase()
const DIGIT = "0123456789"
const HEX = "0123456789abcdef"
const ALNUM = LOWER + UPPER + DIGIT
const URLSAFE = `${ALNUM}-_`
const BASE64 = `${ALNUM}+/`
const BASE32 = `${UPPER}234567`

export type Random = { next(): number; of(letters: string, length: number): string }

/** The same sequence for the same seed, so that a failure can be seen again. */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  return {
    next,
    of: (letters, length) => Array.from({ length }, () => letters.charAt(Math.floor(next() * letters.length))).join(""),
  }
}

type Make = (random: Random) => { value: string; text?: string }

// Every prefix is put together here, so that no scanner takes this file for a leak.
const by =
  (pieces: string[], letters: string, length: number): Make =>
  (random) => ({ value: pieces.join("") + random.of(letters, length) })

const as =
  (make: (value: string) => string, letters: string, length: number): Make =>
  (random) => {
    // A real one has letters and digits in it.
    const value = `${random.of(LOWER, 1)}${random.of(letters, length - 3)}${random.of(DIGIT, 1)}${random.of(LOWER, 1)}`
    return { value, text: make(value) }
  }

const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

const pem =
  (name: string): Make =>
  (random) => {
    const lines = Array.from({ length: 6 }, () => random.of(BASE64, 64)).join("\n")
    return { value: lines.slice(65, 129), text: `-----${_}BEGIN ${name}-----\n${lines}\n-----END ${name}-----` }
  }

const password = (random: Random) =>
  `${random.of(LOWER, 5)}${random.of(DIGIT, 3)}${random.of("!#*%", 1)}${random.of(UPPER, 3)}`

export const KINDS: Record<string, Make> = {
  "aws access key id": by(["AK", "IA"], BASE32, 16),
  "aws session key id": by(["AS", "IA"], BASE32, 16),
  "aws secret access key": as((value) => `aws_secret_${_}access_key = ${value}`, BASE64, 40),
  "gcp api key": by(["AI", "za"], URLSAFE.replace("-", ""), 35),
  "gcp access token": by(["ya", "29."], URLSAFE, 60),
  "google oauth secret": by(["GOC", "SPX-"], URLSAFE, 28),
  "azure storage key": as(
    (value) => `DefaultEndpointsProtocol=https;AccountName=a;Account${_}Key=${value}==;EndpointSuffix=core.windows.net`,
    BASE64,
    86,
  ),
  "azure client secret": (random) => ({ value: `${random.of(ALNUM, 3)}8${_}Q~${random.of(ALNUM, 34)}` }),
  "azure sas": as((value) => `https://a.blob.core.windows.net/c?sv=2022-11-02&sig=${value}%3D&se=2030`, ALNUM, 43),
  "github classic": by(["gh", "p_"], ALNUM, 36),
  "github oauth": by(["gh", "o_"], ALNUM, 36),
  "github app": by(["gh", "s_"], ALNUM, 36),
  "github fine-grained": by(["github", "_pat_"], `${ALNUM}_`, 82),
  gitlab: by(["glp", "at-"], URLSAFE, 20),
  "slack bot": (random) => ({
    value: `xo${_}xb-${random.of(DIGIT, 12)}-${random.of(DIGIT, 12)}-${random.of(ALNUM, 24)}`,
  }),
  "slack webhook": (random) => {
    const value = `T${random.of(UPPER, 8)}/B${random.of(UPPER, 8)}/${random.of(ALNUM, 24)}`
    return { value, text: `https://hooks.slack${_}.com/services/${value}` }
  },
  "stripe live": by(["sk", "_live_"], ALNUM, 24),
  "stripe restricted": by(["rk", "_live_"], ALNUM, 24),
  "openai project": by(["sk", "-proj-"], URLSAFE, 60),
  "openai old": (random) => ({ value: `s${_}k-${random.of(ALNUM, 19)}7${random.of(ALNUM, 28)}` }),
  anthropic: by(["sk", "-ant-api03-"], URLSAFE, 90),
  openrouter: by(["sk", "-or-v1-"], HEX, 64),
  npm: by(["np", "m_"], ALNUM, 36),
  npmrc: as((value) => `//registry.npmjs.org/:_auth${_}Token=${value}`, ALNUM, 40),
  pypi: by(["pyp", "i-AgEIcHlwaS5vcmc"], URLSAFE, 60),
  rubygems: by(["ruby", "gems_"], HEX, 48),
  docker: by(["dckr", "_pat_"], URLSAFE, 27),
  "docker auth": as((value) => `{"auths":{"r.io":{"au${_}th": "${value}=="}}}`, ALNUM, 34),
  jwt: (random) => ({
    value: `${segment({ alg: "HS256", typ: "JWT" })}.${segment({ sub: random.of(DIGIT, 10), iat: 1 })}.${random.of(URLSAFE, 43)}`,
  }),
  "rsa private key": pem(`RSA PRIV${_}ATE KEY`),
  "openssh private key": pem(`OPENSSH PRIV${_}ATE KEY`),
  "ec private key": pem(`EC PRIV${_}ATE KEY`),
  "pgp private key": pem(`PGP PRIV${_}ATE KEY BLOCK`),
  "postgres url": (random) => {
    const value = password(random).replace("#", "-")
    return { value, text: `postgres://app:${value}@db.internal:5432/app` }
  },
  "basic auth url": (random) => {
    const value = random.of(ALNUM, 18)
    return { value, text: `https://deploy:${value}@git.internal/repo.git` }
  },
  "redis url": (random) => {
    const value = random.of(ALNUM, 18)
    return { value, text: `redis://:${value}@cache:6379/0` }
  },
  "ado connection string": (random) => {
    const value = password(random)
    return { value, text: `Server=db;Database=a;User Id=sa;Pass${_}word=${value};Encrypt=true` }
  },
  "env password": (random) => {
    const value = password(random)
    return { value, text: `export DB_PASS${_}WORD=${value}` }
  },
  "env secret": as((value) => `SESSION_SEC${_}RET="${value}"`, ALNUM, 32),
  "env api key": as((value) => `MAPS_API_${_}KEY=${value}`, ALNUM, 32),
  "yaml password": (random) => {
    const value = password(random)
    return { value, text: `db:\n  pass${_}word: "${value}"\n  port: 5432` }
  },
  "json client secret": as((value) => `{"client_${_}secret":"${value}","n":1}`, ALNUM, 40),
  "code password": (random) => {
    const value = password(random)
    return { value, text: `const db${_}Password: string = '${value}'` }
  },
  "authorization bearer": as((value) => `Author${_}ization: Bearer ${value}`, ALNUM, 40),
  "authorization basic": (random) => {
    const value = Buffer.from(`user${random.of(DIGIT, 3)}:${random.of(ALNUM, 14)}`)
      .toString("base64")
      .replace(/=+$/, "")
    return { value, text: `curl -H "Author${_}ization: Basic ${value}" https://api.internal` }
  },
  cookie: as((value) => `Coo${_}kie: sid=${value}; theme=dark`, ALNUM, 32),
  netrc: (random) => {
    const value = password(random)
    return { value, text: `machine api.internal login bot pass${_}word ${value}` }
  },
  "command line": as((value) => `deploy --target eu --to${_}ken ${value} --yes`, ALNUM, 32),
  "curl user": (random) => {
    const value = random.of(ALNUM, 14)
    return { value, text: `curl -s -u admin:${value} https://api.internal` }
  },
  sendgrid: (random) => ({ value: `S${_}G.${random.of(URLSAFE, 22)}.${random.of(URLSAFE, 43)}` }),
  twilio: by(["S", "K"], HEX, 32),
  mailgun: by(["ke", "y-"], HEX, 32),
  mailchimp: (random) => ({ value: `${random.of(HEX, 32)}-u${_}s21` }),
  digitalocean: by(["dop", "_v1_"], HEX, 64),
  shopify: by(["shp", "at_"], HEX, 32),
  telegram: (random) => ({ value: `${random.of("123456789", 10)}:A${_}A${random.of(URLSAFE, 33)}` }),
  "discord webhook": (random) => {
    const value = `${random.of(DIGIT, 18)}/${random.of(URLSAFE, 68)}`
    return { value, text: `https://discord${_}.com/api/webhooks/${value}` }
  },
  huggingface: by(["h", "f_"], LOWER + UPPER, 34),
  databricks: by(["da", "pi"], HEX, 32),
  vault: by(["hv", "s."], URLSAFE, 90),
  terraform: (random) => ({ value: `${random.of(ALNUM, 14)}.atlas${_}v1.${random.of(URLSAFE, 65)}` }),
  linear: by(["lin", "_api_"], ALNUM, 40),
  figma: by(["fig", "d_"], URLSAFE, 40),
  airtable: (random) => ({ value: `pa${_}t${random.of(ALNUM, 14)}.${random.of(HEX, 64)}` }),
  atlassian: by(["ATA", "TT3xFfGF0"], URLSAFE, 80),
  grafana: by(["gl", "sa_"], ALNUM, 40),
  groq: by(["gs", "k_"], ALNUM, 52),
  supabase: by(["sb", "p_"], HEX, 40),
  square: by(["sq0", "atp-"], URLSAFE, 22),
  age: by(["AGE-SECRET", "-KEY-1"], UPPER + DIGIT, 58),
  "ethereum key": (random) => {
    const value = random.of(HEX, 64)
    return { value, text: `PRIVATE_${_}KEY=0x${value}` }
  },
  "spoken password": (random) => {
    const value = password(random)
    return { value, text: `By the way, the pass${_}word is ${value} for staging.` }
  },
  "xml password": (random) => {
    const value = random.of(ALNUM, 14)
    return { value, text: `<pass${_}word>${value}</pass${_}word>` }
  },
}

/** Secrets of every kind in turn, each another one. */
export function plant(count: number, seed = 7): Planted[] {
  const random = seeded(seed)
  const kinds = Object.entries(KINDS)
  return Array.from({ length: count }, (_, index) => {
    const [kind, make] = kinds[index % kinds.length]!
    const { value, text } = make(random)
    return { kind, value, text: text ?? value }
  })
}

const uuid = (random: Random) =>
  `${random.of(HEX, 8)}-${random.of(HEX, 4)}-4${random.of(HEX, 3)}-a${random.of(HEX, 3)}-${random.of(HEX, 12)}`

const HARMLESS: Record<string, (random: Random) => string> = {
  "commit id": (random) => `commit ${random.of(HEX, 40)}`,
  "short commit": (random) => `Merge ${random.of(HEX, 8)} into main`,
  uuid: (random) => `request ${uuid(random)} took 3 ms`,
  "session id": (random) => `{"session_id":"ses_${random.of(ALNUM, 26)}","pass_over_id":"${uuid(random)}"}`,
  sha256: (random) => `sha256:${random.of(HEX, 64)}`,
  md5: (random) => `ETag: "${random.of(HEX, 32)}"`,
  "lock integrity": (random) => `"integrity": "sha512-${random.of(BASE64, 86)}=="`,
  "lock line": (random) => `"zod": ["zod@4.6.7", "", {}, "sha512-${random.of(BASE64, 86)}=="],`,
  "go sum": (random) => `golang.org/x/net v0.1.0 h1:${random.of(BASE64, 43)}=`,
  "yarn resolved": (random) => `resolved "https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#${random.of(HEX, 40)}"`,
  image: (random) => `![](data:image/png;base64,${random.of(BASE64, 800)})`,
  "base64 text": (random) => Buffer.from(random.of(LOWER, 80)).toString("base64"),
  certificate: (random) => `-----BEGIN CERTIFICATE-----\n${random.of(BASE64, 64)}\n-----END CERTIFICATE-----`,
  "public key": (random) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${random.of(BASE64, 43)} ada@host`,
  "example aws": () => `AKIA${_}IOSFODNN7EXAMPLE`,
  "example aws secret": () => `aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfi${_}CYEXAMPLEKEY`,
  "example env": (random) => `API_KEY=your-api-key-here-${random.of(DIGIT, 2)}`,
  "example url": () => "postgres://user:password@localhost:5432/app",
  "env reference": () => "DB_PASSWORD=${DB_PASSWORD_FROM_VAULT1}",
  "code reference": () => "const token = process.env.GITHUB_TOKEN_2 ?? readToken1()",
  "code type": () => "password: string; tokenCount: number; secretName: SecretName2",
  "code call": () => "const password = await prompt(`Password for ${user1}`)",
  "code name": () => "token: accessToken, password: hashedPassword2, secret: sharedSecret",
  "zod schema": () => "password: z.string().min(12), api_key: z.string().length(40)",
  counts: (random) => `{"max_tokens":4096,"input_tokens":${random.of("123456789", 5)},"total_tokens":123456}`,
  "page token": (random) => `{"next_page_token":"${random.of(ALNUM, 24)}"}`,
  "public token": (random) => `PublicKeyToken=${random.of(HEX, 16)}`,
  "token path": () => "token_file: /run/secrets/github_token_2024",
  "token url": () => `token_url = "https://auth.internal/oauth2/v2.0/token"`,
  "help text": () => "Set the password with --password-file, or the token with TOKEN_FILE=/etc/token1",
  prose: () => "The password is checked twice; the token is 32 characters long, and secrets are kept in Vault.",
  "css class": (random) => `<div class="css-${random.of(LOWER + DIGIT, 8)} sk-loading-indicator-large-wrapper">`,
  "kebab name": () => "sk-cube-grid-animation-delay-container npm_config_registry npm_lifecycle_event",
  "docker digest": (random) => `node@sha256:${random.of(HEX, 64)}`,
  ulid: (random) => `01H${random.of(BASE32, 23)}`,
  hexdump: (random) => `00000000  ${random.of(HEX, 32)}`,
  "url plain": (random) => `https://example.com/a/${random.of(ALNUM, 22)}?page=2&sort=asc`,
  "mail url": () => "mailto:ada@example.com, https://example.com:8080/@ada/posts",
  "time stamp": () => "2024-03-10T12:00:00.000Z 1710072000000 token expired",
  minified: (random) => `!function(e,t){var ${random.of(LOWER, 2)}=e.token,n=t.secret;e.password=t.pw1}(a,b)`,
  "test name": () => `test("refuses a token: wrong-audience-2", () => expect(token).toBe("invalid_token"))`,
  "stripe publishable": (random) => `pk${_}_live_${random.of(ALNUM, 24)}`,
  "npm script": () => `"auth": "node scripts/auth.js", "token": "tsx token.ts"`,
  "git diff": (random) => `index ${random.of(HEX, 7)}..${random.of(HEX, 7)} 100644`,
}

/** Texts that look like secrets and are none. */
export function harmless(count: number, seed = 11): { kind: string; text: string }[] {
  const random = seeded(seed)
  const kinds = Object.entries(HARMLESS)
  return Array.from({ length: count }, (_, index) => {
    const [kind, make] = kinds[index % kinds.length]!
    return { kind, text: make(random) }
  })
}
