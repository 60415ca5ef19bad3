import { createMemo, For, Show, type JSX } from "solid-js"
import type { PassSummary } from "../../../opencode/src/server/schema"
import { count, duration, exactly, money, moment, tokens } from "../lib/format"
import { lives } from "../lib/live"
import { link } from "../lib/route"
import { WORDS } from "../lib/words"
import { BadgeMark } from "./badge"
import { passBadge } from "./badge-view"
import type { Detail } from "./pass-over-pass"
import { manifestRows, timeline, untold } from "./pass-over-pass-view"
import { badged, nodeIn, withLive } from "./pass-over-status-view"
import { Empty } from "./state"
import { Pair, Text } from "./text"

/** What went along and what did not, and why. */
export function PassContext(props: { detail: Detail }) {
  return (
    <Show when={props.detail.manifest} fallback={<Empty title={WORDS.pass.manifest_none} />}>
      {(manifest) => (
        <section>
          <h2 class="section-title">{WORDS.pass.manifest}</h2>
          <p class="meta">{WORDS.pass.of(tokens(manifest().tokens), tokens(manifest().max_tokens))}</p>
          <div class="table-wrap" tabindex="0" role="region" aria-label={WORDS.pass.manifest}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{WORDS.pass.what}</th>
                  <th scope="col">{WORDS.pass.how}</th>
                  <th scope="col">{WORDS.pass.why}</th>
                  <th scope="col" class="number">
                    {WORDS.pass.tokens}
                  </th>
                </tr>
              </thead>
              <tbody>
                <For each={manifestRows(manifest())}>
                  {(item) => (
                    <tr data-taken={item.taken}>
                      <td>
                        <span class="kind">{item.kind.replaceAll("_", " ")}</span>{" "}
                        <code>
                          <Text text={item.ref} />
                        </code>
                      </td>
                      <td>{WORDS.pass.taken[item.taken]}</td>
                      <td>
                        <Text text={item.why} />
                      </td>
                      <td class="number">{count(item.tokens)}</td>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </div>
        </section>
      )}
    </Show>
  )
}

function Fact(props: { name: string; children: JSX.Element }) {
  return (
    <>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </>
  )
}

/** What was asked, under which policy, and where it stands in its chain. */
export function PassRequest(props: { detail: Detail }) {
  const pass = () => props.detail.pass
  return (
    <>
      <dl class="facts wide">
        <Fact name={WORDS.pass.objective}>
          <span class="said" dir="auto">
            <Text text={pass().objective} />
          </span>
        </Fact>
        <Show when={pass().background}>
          {(text) => (
            <Fact name={WORDS.pass.background}>
              <span class="said" dir="auto">
                <Text text={text()} />
              </span>
            </Fact>
          )}
        </Show>
        <Show when={pass().continues_pass_id}>
          {(id) => (
            <Fact name={WORDS.pass.continues}>
              <a href={link("pass", { id: id() })}>
                <code>{id()}</code>
              </a>
            </Fact>
          )}
        </Show>
        <Fact name={WORDS.pass.reason}>
          <Text text={pass().reason} />
        </Fact>
        <Show when={pass().constraints.length > 0}>
          <Fact name={WORDS.pass.constraints}>
            <ul class="bullets">
              <For each={pass().constraints}>
                {(text) => (
                  <li dir="auto">
                    <Text text={text} />
                  </li>
                )}
              </For>
            </ul>
          </Fact>
        </Show>
        <Fact name={WORDS.pass.policy}>{pass().policy}</Fact>
        <Fact name={WORDS.pass.expected}>{pass().expected_output_type}</Fact>
        <Fact name={WORDS.pass.time}>{duration(pass().timeout_ms)}</Fact>
        <Show when={pass().model}>{(model) => <Fact name={WORDS.pass.model}>{model()}</Fact>}</Show>
        <Fact name={WORDS.pass.session}>
          <code>{pass().session_id}</code>
        </Fact>
        <Show when={pass().child_session_id}>
          {(child) => (
            <Fact name={WORDS.pass.child}>
              <code>{child()}</code>
            </Fact>
          )}
        </Show>
      </dl>
      <section>
        <h2 class="section-title">{WORDS.pass.chain}</h2>
        <ChainList detail={props.detail} />
      </section>
    </>
  )
}

/** All passes of one trace, each at its depth. */
export function ChainList(props: { detail: Detail }) {
  const chain = createMemo(() => props.detail.chain.map((pass) => withLive(pass, lives())))
  const shown = (pass: PassSummary) => {
    const node = nodeIn(chain(), pass.id)
    return node ? badged(node) : pass
  }
  return (
    <ol class="chain-list">
      <For each={props.detail.chain}>
        {(pass) => (
          <li data-depth={Math.min(pass.chain_depth, 5)} data-here={pass.id === props.detail.pass.id}>
            <a
              href={link("pass", { id: pass.id })}
              aria-current={pass.id === props.detail.pass.id ? "true" : undefined}
            >
              <strong>
                <Pair from={pass.originating_agent_id} to={pass.subagent_id} />
              </strong>{" "}
              <bdi>
                <Text text={pass.objective} />
              </bdi>
            </a>
            <BadgeMark badge={passBadge(shown(pass))} />
          </li>
        )}
      </For>
    </ol>
  )
}

function Attempts(props: { detail: Detail }) {
  return (
    <div class="table-wrap" tabindex="0" role="region" aria-label={WORDS.pass.attempts}>
      <table>
        <thead>
          <tr>
            <th scope="col">{WORDS.pass.attempt}</th>
            <th scope="col">{WORDS.pass.how}</th>
            <th scope="col">{WORDS.pass.time}</th>
            <th scope="col">{WORDS.pass.error}</th>
            <th scope="col" class="number">
              {WORDS.pass.price}
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={props.detail.attempts}>
            {(attempt) => (
              <tr>
                <td>{attempt.attempt}</td>
                <td>{attempt.kind}</td>
                <td>{attempt.time_ended === null ? "" : duration(attempt.time_ended - attempt.time_started)}</td>
                <td>{[attempt.error_code, attempt.error_message].filter(Boolean).join(" ")}</td>
                <td class="number">{attempt.usage ? money(attempt.usage.cost) : ""}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  )
}

export function Moments(props: { detail: Detail; now: number }) {
  const moments = createMemo(() => timeline(props.detail.events, props.detail.audit))
  return (
    <>
      <ol class="timeline">
        <For each={moments()}>
          {(one) => (
            <li>
              <time datetime={new Date(one.at).toISOString()} title={exactly(one.at)}>
                {moment(one.at, props.now)}
              </time>
              <span>
                <strong>{one.what}</strong>{" "}
                <bdi>
                  <Text text={one.detail} />
                </bdi>{" "}
                <Show when={one.by}>{(who) => <em>{WORDS.pass.by(who())}</em>}</Show>
              </span>
            </li>
          )}
        </For>
      </ol>
      <Show when={untold(props.detail) > 0}>
        <p class="hint">
          {WORDS.pass.untold(count(untold(props.detail)))}{" "}
          <a href={link("pass", { id: props.detail.pass.id, tab: "work" })}>{WORDS.pass.tabs.work}</a>
        </p>
      </Show>
    </>
  )
}

/** What happened when, and every attempt that was made. */
export function PassTimeline(props: { detail: Detail; now: number }) {
  return (
    <>
      <section>
        <h2 class="section-title">{WORDS.pass.happened}</h2>
        <Moments detail={props.detail} now={props.now} />
      </section>
      <Show when={props.detail.attempts.length > 0}>
        <section>
          <h2 class="section-title">{WORDS.pass.attempts}</h2>
          <Attempts detail={props.detail} />
        </section>
      </Show>
    </>
  )
}
