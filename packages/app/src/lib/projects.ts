import { useQuery } from "@tanstack/solid-query"
import { createMemo } from "solid-js"
import { api } from "./api"

/**
 * The projects that have passes, the busiest of late first. `first` stays the one that it was when the page was opened: a
 * pass in another project must not put that one under the hand of somebody who is at work in this.
 */
export function useProjects() {
  const projects = useQuery(() => ({
    queryKey: ["projects"],
    queryFn: async () => (await api.projects.$get()).json(),
  }))
  const first = createMemo<string | undefined>((before) => before ?? projects.data?.items[0]?.directory)
  return { projects, first }
}
