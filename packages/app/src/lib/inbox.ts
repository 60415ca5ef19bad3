import { useQuery } from "@tanstack/solid-query"
import { api } from "./api"

const LIMIT = 100

type Read = { data?: { next: string | null } | undefined }

/** Whether more wait than were read. */
export const waitMore = ({ data }: Read) => data !== undefined && data.next !== null

/** The questions that wait for a person, as many as are read at once. */
export const useInbox = () =>
  useQuery(() => ({
    queryKey: ["inbox", "pending"],
    queryFn: async () => (await api.inbox.$get({ query: { limit: String(LIMIT) } })).json(),
  }))
