import { createParser, type EventSourceMessage } from "eventsource-parser"

/** Reads a stream of events until `enough`; gives back what came, and lets go of the stream. */
export async function read(
  answer: Response,
  enough: (events: EventSourceMessage[]) => boolean,
): Promise<EventSourceMessage[]> {
  const events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => void events.push(event) })
  const reader = answer.body?.getReader()
  if (!reader) throw new Error("no stream")
  const decoder = new TextDecoder()
  while (!enough(events)) {
    const { done, value } = await reader.read()
    if (done) break
    parser.feed(decoder.decode(value, { stream: true }))
  }
  await reader.cancel()
  return events
}
