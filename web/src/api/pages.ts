import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'

export interface Page<T> {
  readonly items: readonly T[]
  readonly next_page_token: string | null
}

/** A list that REST gives page by page. `items` are those of all pages read so far. */
export function usePages<T>(options: {
  key: QueryKey
  read: (pageToken: string | undefined, signal: AbortSignal) => Promise<Page<T>>
  enabled?: boolean
  refetchInterval?: number | false
}) {
  const query = useInfiniteQuery({
    queryKey: options.key,
    queryFn: ({ pageParam, signal }) => options.read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_page_token ?? undefined,
    enabled: options.enabled ?? true,
    refetchInterval: options.refetchInterval ?? false,
  })
  const items = query.data?.pages.flatMap((page) => page.items)
  return { ...query, items }
}

/** Every entry of a list that is known to be short; `limit` guards against one that is not. */
export async function readAll<T>(read: (pageToken: string | undefined) => Promise<Page<T>>, limit = 5000): Promise<T[]> {
  const items: T[] = []
  let token: string | undefined
  do {
    const page = await read(token)
    items.push(...page.items)
    token = page.next_page_token ?? undefined
  } while (token && items.length < limit)
  return items
}
