import { Button, Checkbox, Group, NativeSelect, SegmentedControl } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useFilters } from '../../../app/router/search'
import { useText } from '../../../i18n/language'
import type { Job } from '../../../queries/jobs'
import { saveFile } from '../../../ui/csv'
import { formatBytes } from '../../../ui/format'
import { EmptyState, ErrorState } from '../../../ui/states'
import styles from './job_log.module.css'
import { keptBytes } from './log_text'
import { type LogAttempt, type StreamName, useLog } from './use_log'

/** What the newest attempt wrote, or an earlier one that is chosen. */
export function JobLogTab({ job }: { job: Job }) {
  const t = useText()
  const [filters, change] = useFilters(['attempt'])
  const newest = job.attempt?.epoch ?? 0
  const numbers = Array.from({ length: newest }, (_, i) => newest - i)
  const number = numbers.find((one) => String(one) === filters.attempt) ?? newest
  const isNewest = number === newest
  return (
    <>
      {numbers.length > 1 ? (
        <NativeSelect label={t('jobs.attempt')} value={String(number)} w={220} mb="sm"
          onChange={(e) => change({ attempt: e.currentTarget.value === String(newest) ? '' : e.currentTarget.value })}
          data={numbers.map((one) => ({ value: String(one), label: t(one === newest ? 'jobs.log.attempt.newest' : 'jobs.attempt.n', { n: one }) }))} />
      ) : null}
      {isNewest && !job.attempt?.started_at ? <EmptyState title={t('jobs.log.none')} /> : <Log key={number} job={job} attempt={{ number, isNewest }} />}
    </>
  )
}

function Log({ job, attempt }: { job: Job; attempt: LogAttempt }) {
  const t = useText()
  const [stream, setStream] = useState<StreamName>('stdout')
  const [isFollowed, setFollowed] = useState(true)
  const { log, isLive, error, again } = useLog(job.id, stream, attempt)
  const frame = useRef<HTMLPreElement>(null)
  useEffect(() => {
    if (isFollowed && frame.current) frame.current.scrollTop = frame.current.scrollHeight
  }, [log, isFollowed])
  return (
    <>
      <Group gap="sm" mb="xs">
        <SegmentedControl aria-label={t('jobs.log.stream')} value={stream} onChange={(value) => setStream(value as StreamName)}
          data={[{ value: 'stdout', label: t('jobs.log.stdout') }, { value: 'stderr', label: t('jobs.log.stderr') }]} />
        <Checkbox label={t('jobs.log.follow')} checked={isFollowed} onChange={(e) => setFollowed(e.currentTarget.checked)} />
        <span role="status" className="dim">{t(isLive ? 'jobs.log.live' : 'jobs.log.ended', { size: formatBytes(log.bytes) })}</span>
        {log.isCut ? <span className="dim">{t('jobs.log.cut', { size: formatBytes(keptBytes) })}</span> : null}
        <Button onClick={() => saveFile(`${job.id}${attempt.isNewest ? '' : `.attempt${attempt.number}`}.${stream}.txt`, log.text, 'text/plain')}>{t('jobs.log.save')}</Button>
      </Group>
      {error ? <ErrorState error={error} retry={again} /> : null}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre ref={frame} className={styles.log} role="group" tabIndex={0} aria-label={t(`jobs.log.${stream}`)}>{log.text || (isLive ? t('jobs.log.empty') : '')}</pre>
    </>
  )
}
