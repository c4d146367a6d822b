import type { Query, QueryClient } from '@tanstack/react-query'
import { throttle } from '../api/events'
import { jobKeys } from '../queries/jobs'
import { keysThatJobsChange, type LiveKey } from './live_keys'

const eventsTogetherMs = 1500

/** How many requests it takes to ask again for what is shown: one for each page that was read. */
function pageCount(query: Query): number {
  const data = query.state.data as { pages?: unknown } | undefined
  return Array.isArray(data?.pages) ? Math.max(1, data.pages.length) : 1
}

/** When a query may be asked again: the more pages of a list are shown, the more seldom, so that requests do not grow with them. */
function dueAt(query: Query, everyMs: number): number {
  return Math.max(query.state.dataUpdatedAt, query.state.errorUpdatedAt) + everyMs * pageCount(query)
}

/**
 * Keeps answers up to date with jobs: `changed` is told which job has changed. What a page shows is asked for again, as often as its
 * key allows; what none shows is only marked, and asked for when it is shown again. Nothing is asked for while the page is hidden.
 */
export function followJobs(client: QueryClient, keys: readonly LiveKey[] = keysThatJobsChange) {
  const changedJobs = new Set<string>()
  // What has changed since it was last asked for; a query forgets its own mark when an answer comes that was on its way already.
  const outdated = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function refresh() {
    clearTimeout(timer)
    if (document.hidden) return
    const now = Date.now()
    let next = Infinity
    for (const { key, everyMs } of keys) {
      for (const query of client.getQueryCache().findAll({ queryKey: key, type: 'active' })) {
        if (!outdated.has(query.queryHash)) continue
        const isIdle = query.state.fetchStatus === 'idle'
        const at = isIdle ? dueAt(query, everyMs) : now + everyMs
        if (isIdle && at <= now) {
          outdated.delete(query.queryHash)
          void client.refetchQueries({ queryKey: query.queryKey, exact: true, type: 'active' })
        } else next = Math.min(next, at)
      }
    }
    if (next < Infinity) timer = setTimeout(refresh, next - now)
  }

  const note = throttle(() => {
    for (const id of changedJobs) void client.invalidateQueries({ queryKey: jobKeys.one(id) })
    changedJobs.clear()
    outdated.clear()
    for (const { key } of keys) {
      void client.invalidateQueries({ queryKey: key, refetchType: 'none' })
      for (const query of client.getQueryCache().findAll({ queryKey: key, type: 'active' })) outdated.add(query.queryHash)
    }
    refresh()
  }, eventsTogetherMs)

  return {
    changed(jobId: string) {
      changedJobs.add(jobId)
      note.call()
    },
    stop() {
      note.cancel()
      clearTimeout(timer)
    },
  }
}
