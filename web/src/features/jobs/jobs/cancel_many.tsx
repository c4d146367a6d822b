import { Button, Group, Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useText } from '../../../i18n/language'
import { cancelJob, type Job, jobKeys } from '../../../queries/jobs'
import { causeText, codeText } from '../../../ui/problem_text'
import { ServerText } from '../../../ui/server_text'
import { JobStatePill } from '../job_state'
import styles from './cancel_many.module.css'

/** What became of one: its error, or that the server was asked. */
type Result = 'asked' | { error: unknown }

/** Cancels several jobs: shows which, then what became of each. Whoever stops it on the way sees which were left. */
export function CancelMany({ jobs, onClose }: { jobs: readonly Job[]; onClose: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const [results, setResults] = useState<Record<string, Result>>({})
  const [phase, setPhase] = useState<'preview' | 'busy' | 'done'>('preview')
  const isStopped = useRef(false)
  const asked = Object.values(results).filter((result) => result === 'asked').length

  async function run() {
    setPhase('busy')
    // One after the other: each has its own outcome, and a long list does not become a burst.
    for (const job of jobs) {
      if (isStopped.current) break
      const result = await cancelJob(job.id).then((): Result => 'asked', (error: unknown): Result => ({ error }))
      setResults((before) => ({ ...before, [job.id]: result }))
    }
    await client.invalidateQueries({ queryKey: jobKeys.lists })
    setPhase('done')
  }
  function leave() {
    if (phase === 'busy') isStopped.current = true
    else onClose()
  }

  return (
    <Modal opened onClose={leave} size="lg" title={t('jobs.cancel.many', { n: jobs.length })} closeButtonProps={{ 'aria-label': t('jobs.close') }}>
      <p role="status">{phase === 'done' ? t('jobs.cancel.done', { n: asked, all: jobs.length }) : t('jobs.cancel.preview')}</p>
      <ul className={styles.list}>
        {jobs.map((job) => {
          const result = results[job.id]
          return (
            <li key={job.id}>
              <span className={styles.name}>{job.name || job.id}</span>
              <JobStatePill state={job.state} />
              {result && result !== 'asked'
                ? <span className={styles.bad}><ServerText label={codeText(t, result.error)}>{causeText(result.error)}</ServerText></span>
                : <span className="dim">{result ? t('jobs.cancel.asked') : phase === 'done' ? t('jobs.cancel.left') : ''}</span>}
            </li>
          )
        })}
      </ul>
      <Group mt="md" gap="xs" justify="flex-end">
        <Button onClick={leave} data-autofocus>{t(phase === 'busy' ? 'jobs.cancel.stop' : 'jobs.close')}</Button>
        {phase === 'done' ? null : (
          <Button variant="filled" color="#b3261e" loading={phase === 'busy'} onClick={() => void run()}>{t('jobs.cancel.many', { n: jobs.length })}</Button>
        )}
      </Group>
    </Modal>
  )
}
