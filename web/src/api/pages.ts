import { keepPreviousData, type QueryClient, type QueryKey, skipToken, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

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
  /**
   * Shows the answer to an earlier question until the one to this has come, so that what has the focus, such as the filter that was changed,
   * stays where it is.
   */
  keepsPrevious?: boolean
}) {
  const query = useInfiniteQuery({
    queryKey: options.key,
    queryFn: ({ pageParam, signal }) => options.read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_page_token ?? undefined,
    enabled: options.enabled ?? true,
    refetchInterval: options.refetchInterval ?? false,
    ...(options.keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  })
  const pages = query.data?.pages
  // The same as long as the answer is: what is worked out of it is kept.
  const items = useMemo(() => pages?.flatMap((page) => page.items), [pages])
  return { ...query, items }
}

/** A list that was read as a whole. */
export interface WholeList<T> {
  readonly items: readonly T[]
  /** There are more entries than were read: whoever shows or counts them has to say so. */
  readonly isCut: boolean
}

/** Every entry of a list that is known to be short; `limit` guards against one that is not. `tell`: what has come while more is asked for. */
export async function readAll<T>(read: (pageToken: string | undefined) => Promise<Page<T>>, limit = 5000,
  tell: (items: readonly T[]) => void = () => undefined): Promise<WholeList<T>> {
  const items: T[] = []
  let token: string | undefined
  do {
    if (token !== undefined) tell([...items])
    const page = await read(token)
    items.push(...page.items)
    token = page.next_page_token ?? undefined
  } while (token && items.length < limit)
  return { items, isCut: token !== undefined }
}

interface ListOptions<T> {
  key: QueryKey
  read: (pageToken: string | undefined, signal: AbortSignal) => Promise<Page<T>>
  limit?: number
  enabled?: boolean
  refetchInterval?: number
  staleTime?: number
  /** Shows the answer to an earlier question until the one to this has come. */
  keepsPrevious?: boolean
}

/** A list that is read as a whole. `data` are its entries; `isCut`: those that were read, and there are more. */
export function useWholeList<T>(options: ListOptions<T>) {
  const query = useQuery({
    queryKey: options.key,
    queryFn: ({ signal, client }) => readAll((token) => options.read(token, signal), options.limit, (items) => tellPart(client, options.key, items)),
    enabled: options.enabled ?? true,
    refetchInterval: options.refetchInterval ?? false,
    ...(options.staleTime === undefined ? {} : { staleTime: options.staleTime }),
    ...(options.keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  })
  // Looked up when they are asked for: who does not ask is not drawn again when they change.
  return {
    get data() { return query.data?.items },
    get isCut() { return query.data?.isCut ?? false },
    get isPending() { return query.isPending },
    get isFetching() { return query.isFetching },
    get isPlaceholderData() { return query.isPlaceholderData },
    get isError() { return query.isError },
    get error() { return query.error },
    get dataUpdatedAt() { return query.dataUpdatedAt },
    refetch: () => query.refetch(),
  }
}

/** What has come of a list is kept beside the list: who needs all of it never takes a part for it. */
const partKey = (key: QueryKey): QueryKey => ['part', ...key]

/** Tells those who show a list while it is read what has come: nobody is shown less than before. */
function tellPart<T>(client: QueryClient, key: QueryKey, items: readonly T[]) {
  const part = client.getQueryCache().find<readonly T[]>({ queryKey: partKey(key), exact: true })
  if (part && (part.state.data?.length ?? 0) < items.length) client.setQueryData(partKey(key), items)
}

/**
 * The same for a page that shows the first entries of a long list, whose pages can only be asked for one after the other: until all is
 * there, `data` is what has come, and `isPart` is true. What is said of a part is not said of the list: whoever shows it has to say so.
 */
export function useListInParts<T>(options: ListOptions<T>) {
  const list = useWholeList(options)
  const part = useQuery<readonly T[]>({ queryKey: partKey(options.key), queryFn: skipToken })
  const isPart = list.isFetching && (list.data === undefined || list.isPlaceholderData) && part.data !== undefined
  return {
    data: isPart ? part.data : list.data,
    isPart,
    isCut: !isPart && list.isCut,
    isPlaceholderData: !isPart && list.isPlaceholderData,
    isPending: list.isPending,
    isError: list.isError,
    error: list.error,
    dataUpdatedAt: list.dataUpdatedAt,
    refetch: list.refetch,
  }
}
