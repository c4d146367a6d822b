import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiError } from '../api/problem'
import { useText } from '../i18n/language'
import { formatTime } from './format'
import { causeText, codeText } from './problem_text'
import { ServerText } from './server_text'
import styles from './states.module.css'
import { useZone } from './zone'

export function LoadingState() {
  const t = useText()
  return <p role="status" className="dim" data-loading>{t('ui.loading')}</p>
}

/** Nothing to show: why, and what to do. */
export function EmptyState({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles.box}>
      <p className="title">{title}</p>
      {children ? <div className="dim">{children}</div> : null}
      {action ? <div className={styles.actions}>{action}</div> : null}
    </div>
  )
}

/** There are entries, of which the filters leave none. */
export function NoneFits({ onClear }: { onClear: () => void }) {
  const t = useText()
  return <EmptyState title={t('ui.none.fits')} action={<Button onClick={onClear}>{t('ui.none.clear')}</Button>} />
}

/** What a way out of an error is, in the reader's language; the server's own words stand beside it. */
function useWayOut(error: unknown): string {
  const t = useText()
  if (!(error instanceof ApiError)) return ''
  // Where the server says what is wrong with each field, that is the way out.
  if (error.problem?.errors?.length) return ''
  switch (error.status) {
    case 0: return t('ui.error.0')
    case 403: return t('ui.error.403')
    case 404: return t('ui.error.404')
    case 409: return t('ui.error.409')
    case 412: return t('ui.error.412')
    case 429: return t('ui.error.429', { s: error.retryAfterS ?? 1 })
    case 502: case 503: case 504: return t('ui.error.503')
    case 500: return t('ui.error.500')
    default: return ''
  }
}

/** What failed: its cause, a way out, and the id by which the server's log knows it. */
export function ErrorState({ error, retry, title }: { error: unknown; retry?: () => void; title?: string }) {
  const t = useText()
  const wayOut = useWayOut(error)
  const problem = error instanceof ApiError ? error.problem : null
  return (
    <div role="alert" className={`${styles.box} ${styles.error}`}>
      <p className="title">{title ?? codeText(t, error) ?? t('ui.error.title')}</p>
      {error instanceof ApiError && error.status === 0 ? null : <p><ServerText>{causeText(error)}</ServerText></p>}
      {problem?.errors?.length ? (
        <ul className={styles.list}>
          {problem.errors.map((e, i) => <li key={i}>{e.field ? <><code>{e.field}</code>: </> : null}<ServerText>{e.detail}</ServerText></li>)}
        </ul>
      ) : null}
      {wayOut ? <p>{wayOut}</p> : null}
      {problem ? <p className="dim">{t('ui.request', { id: problem.request_id })}</p> : null}
      {retry ? <div className={styles.actions}><Button onClick={retry}>{t('ui.again')}</Button></div> : null}
    </div>
  )
}

interface Watched {
  isPending: boolean
  isError: boolean
  error: unknown
  data?: unknown
  /** What is there answers an earlier question; the answer to this one is on its way. */
  isPlaceholderData?: boolean
  dataUpdatedAt: number
  refetch: () => unknown
}

/**
 * Loading, failed, out of date, or ready: the same for everything that is asked for. While the answer to an earlier question is shown, it
 * says over the page that another is on its way. `tools`: the filters among the children; they stay
 * where the server refuses what they ask for, so that it can be put right.
 */
export function Ready({ query, tools, children }: { query: Watched; tools?: ReactNode; children: ReactNode }) {
  if (query.data === undefined) {
    if (!query.isError) return <LoadingState />
    return <>{tools ? <div className={styles.tools}>{tools}</div> : null}<ErrorState error={query.error} retry={() => void query.refetch()} /></>
  }
  return (
    <>
      {query.isError ? <StaleMark since={query.dataUpdatedAt} /> : null}
      {query.isPlaceholderData ? <div className={styles.floating}><LoadingState /></div> : null}
      {children}
    </>
  )
}

/** Says over the page that something of it is on its way, while the rest is there. */
export function BusyMark({ children }: { children: ReactNode }) {
  return <p role="status" className={styles.floating}>{children}</p>
}

/** Says that what is shown is not current any more. */
export function StaleMark({ since }: { since: number }) {
  const t = useText()
  const { zone } = useZone()
  const time = formatTime(new Date(since).toISOString(), zone)
  return <p role="status" className={styles.stale}>{t('ui.stale', { reason: t('ui.stale.failed', { time }) })}</p>
}
