import { literal } from "./secret-value"

/** A sensitive value in a text: from where to where, and what it is. */
export type Rule = {
  kind: string
  /** Literals in lower case, found in any case; one of them is in every match. */
  words: readonly string[]
  /** Sticky. Tried where a word begins; the group `value` ends the match, or else all of it is the value. */
  pattern: RegExp
  /** What may stand before the word and belongs to the match. */
  before?: { most: number; of: RegExp }
  /** Whether a letter or a digit may stand right before the match. */
  inside?: boolean
  accept?: (match: RegExpExecArray, text: string) => boolean
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&")

/** A token that is known by how it begins; whatever case the words are searched in, the token's own case counts. */
const token = (kind: string, prefixes: readonly string[], rest: string): Rule => ({
  kind,
  words: prefixes.map((prefix) => prefix.toLowerCase()),
  pattern: new RegExp(`(?:${prefixes.map(escaped).join("|")})${rest}`, "y"),
  accept: literal,
})

const HEX = /[0-9a-f]/

/**
 * What providers publish about the form of their tokens, one line each; see docs/decision for how the table came about.
 * They ask for the least length only: the rest of a longer token is taken by `redact`. Nothing is open-ended, so that no
 * text makes it slow.
 */
export const TOKENS: readonly Rule[] = [
  token("aws-access-key-id", ["AKIA", "ASIA", "ABIA", "ACCA"], "[A-Z2-7]{16}(?![A-Za-z0-9])"),
  token("aws-bedrock-key", ["ABSKQmVkcm9ja0FQSUtleS", "bedrock-api-key-"], "[A-Za-z0-9+/=]{20}"),
  token("gcp-api-key", ["AIza"], "[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
  token("gcp-access-token", ["ya29."], "[A-Za-z0-9_-]{20}"),
  token("google-refresh-token", ["1//0"], "[A-Za-z0-9_-]{30}"),
  token("google-oauth-secret", ["GOCSPX-"], "[A-Za-z0-9_-]{20}"),
  token("github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]{30}"),
  token("github-token", ["github_pat_"], "[A-Za-z0-9_]{30}"),
  token(
    "gitlab-token",
    ["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glagent-", "glsoat-", "glft-", "glimt-", "gloas-", "glffct-"],
    "[A-Za-z0-9_.-]{18}",
  ),
  token("gitlab-runner-token", ["GR1348941"], "[A-Za-z0-9_-]{18}"),
  token("slack-token", ["xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-"], "[A-Za-z0-9.-]{20}"),
  token("slack-token", ["xapp-"], "\\d-[A-Za-z0-9-]{20}"),
  token("slack-webhook", ["hooks.slack.com/"], "(?:services|workflows|triggers)/(?<value>[A-Za-z0-9+/]{20})"),
  token("stripe-key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"], "[A-Za-z0-9]{10}"),
  token("webhook-secret", ["whsec_"], "[A-Za-z0-9+/=_-]{20}"),
  token("anthropic-key", ["sk-ant-"], "[A-Za-z0-9_-]{20}"),
  token("openrouter-key", ["sk-or-"], "[A-Za-z0-9_-]{20}"),
  token("openai-key", ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], "[A-Za-z0-9_-]{20}"),
  token("openai-key", ["sk-"], "(?=[A-Za-z]{0,40}\\d)[A-Za-z0-9]{20}"),
  token("huggingface-token", ["hf_", "api_org_"], "[A-Za-z0-9]{30}"),
  token("groq-key", ["gsk_"], "[A-Za-z0-9]{40}"),
  token("xai-key", ["xai-"], "[A-Za-z0-9]{60}"),
  token("perplexity-key", ["pplx-"], "[A-Za-z0-9]{40}"),
  token("replicate-token", ["r8_"], "[A-Za-z0-9]{30}"),
  token("npm-token", ["npm_"], "[A-Za-z0-9]{36}"),
  token("pypi-token", ["pypi-AgE"], "[A-Za-z0-9_-]{40}"),
  token("rubygems-token", ["rubygems_"], "[a-f0-9]{48}"),
  token("nuget-key", ["oy2"], "[a-z0-9]{43}(?![A-Za-z0-9])"),
  token("crates-token", ["cio"], "[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
  token("clojars-token", ["CLOJARS_"], "[A-Za-z0-9]{60}"),
  token("docker-token", ["dckr_pat_", "dckr_oat_"], "[A-Za-z0-9_-]{20}"),
  token("sendgrid-key", ["SG."], "[A-Za-z0-9_-]{20,24}\\.[A-Za-z0-9_-]{39,50}"),
  token("twilio-key", ["SK"], "[0-9a-f]{32}(?![A-Za-z0-9])"),
  token("mailgun-key", ["key-"], "[0-9a-f]{32}(?![A-Za-z0-9])"),
  { ...token("mailchimp-key", ["-us"], ""), ...behind(32, HEX, "[0-9a-f]{32}-us\\d{1,2}(?!\\d)") },
  token("brevo-key", ["xkeysib-"], "[a-f0-9]{64}-[A-Za-z0-9]{16}"),
  token("digitalocean-token", ["dop_v1_", "doo_v1_", "dor_v1_"], "[a-f0-9]{60}"),
  token("heroku-key", ["HRKU-AA"], "[A-Za-z0-9_-]{50}"),
  token("shopify-token", ["shpat_", "shpca_", "shppa_", "shpss_"], "[A-Fa-f0-9]{32}"),
  token("square-token", ["sq0atp-", "sq0csp-", "sq0idp-"], "[A-Za-z0-9_-]{20}"),
  {
    ...token("telegram-token", [":AA"], ""),
    ...behind(10, /\d/, "\\d{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
  },
  token(
    "discord-webhook",
    ["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
    "(?<value>\\d{15,20}/[\\w-]{50})",
  ),
  token("teams-webhook", [".webhook.office.com/webhookb2/"], "(?<value>[A-Za-z0-9@/-]{60})"),
  token("databricks-token", ["dapi"], "[0-9a-f]{32}(?:-\\d)?(?![A-Za-z0-9])"),
  token("vault-token", ["hvs.", "hvb.", "hvr."], "[A-Za-z0-9_-]{24}"),
  {
    ...token("terraform-token", [".atlasv1."], ""),
    ...behind(14, /[A-Za-z0-9]/, "[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_=-]{50}"),
  },
  token("doppler-token", ["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], "[A-Za-z0-9._-]{40}"),
  token("linear-key", ["lin_api_", "lin_oauth_"], "[A-Za-z0-9]{32}"),
  token("notion-token", ["secret_", "ntn_"], "[A-Za-z0-9]{43}"),
  token("figma-token", ["figd_"], "[A-Za-z0-9_-]{35}"),
  token("airtable-token", ["pat"], "[A-Za-z0-9]{14}\\.[a-f0-9]{64}"),
  token("atlassian-token", ["ATATT3", "ATCTT3"], "[A-Za-z0-9_=-]{50}"),
  token("bitbucket-token", ["ATBB"], "[A-Za-z0-9]{28}"),
  token("newrelic-key", ["NRAK-", "NRJS-", "NRII-", "NRSP-"], "[A-Za-z0-9_-]{19}"),
  token("grafana-token", ["glsa_", "glc_"], "[A-Za-z0-9_+/=]{32}"),
  token("sentry-token", ["sntrys_", "sntryu_"], "[A-Za-z0-9_+/=]{40}"),
  token("postman-key", ["PMAK-"], "[a-f0-9]{24}-[a-f0-9]{34}"),
  token("planetscale-token", ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], "[A-Za-z0-9_.=-]{30}"),
  token("supabase-key", ["sbp_", "sb_secret_"], "[A-Za-z0-9_-]{30}"),
  token("fly-token", ["fo1_", "fm1_", "fm1r_", "fm2_"], "[A-Za-z0-9+/=_-]{40}"),
  token("facebook-token", ["EAACEdEose0cBA", "EAAC", "EAAB", "EAAG"], "(?=[A-Za-z]{0,60}\\d)[A-Za-z0-9]{60}"),
  token("dropbox-token", ["sl.u.", "sl.B"], "[A-Za-z0-9_-]{100}"),
  token("age-key", ["AGE-SECRET-KEY-1"], "[A-Z0-9]{40}"),
  token("pulumi-token", ["pul-"], "[a-f0-9]{40}"),
  token("prefect-key", ["pnu_"], "[A-Za-z0-9]{36}"),
  token("readme-key", ["rdme_"], "[a-z0-9]{60}"),
  token("sonar-token", ["sqp_", "squ_", "sqa_"], "[a-f0-9]{40}"),
  token("typeform-token", ["tfp_"], "[A-Za-z0-9_.=-]{50}"),
  token("contentful-token", ["CFPAT-"], "[A-Za-z0-9_-]{40}"),
  token("easypost-key", ["EZAK", "EZTK"], "[A-Za-z0-9]{54}"),
  token("shippo-token", ["shippo_live_", "shippo_test_"], "[a-f0-9]{40}"),
  token("artifactory-key", ["AKCp"], "[A-Za-z0-9]{60}"),
  token("alibaba-key-id", ["LTAI"], "[A-Za-z0-9]{17,21}(?![A-Za-z0-9])"),
  token("tencent-key-id", ["AKID"], "[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
  token("onepassword-token", ["ops_eyJ"], "[A-Za-z0-9+/=_-]{80}"),
  token("cloudflare-key", ["v1.0-"], "[a-f0-9]{24}-[a-f0-9]{120}"),
  token("langsmith-key", ["lsv2_pt_", "lsv2_sk_"], "[a-f0-9]{32}_[a-f0-9]{10}"),
  token("tailscale-key", ["tskey-"], "[a-z]{3,10}-[A-Za-z0-9-]{20}"),
  token("buildkite-token", ["bkua_"], "[a-f0-9]{40}"),
  token("mapbox-token", ["sk.eyJ"], "[A-Za-z0-9_.-]{60}"),
  {
    ...token("azure-client-secret", ["Q~"], ""),
    ...behind(4, /[A-Za-z0-9_~.]/, "[A-Za-z0-9_~.]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])"),
  },
]

function behind(most: number, of: RegExp, pattern: string) {
  return { before: { most, of }, pattern: new RegExp(pattern, "y") }
}
