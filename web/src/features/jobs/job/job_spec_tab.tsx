import type { Job } from '../../../queries/jobs'
import { useText } from '../../../i18n/language'
import { CopyButton } from '../../../ui/copy_button'
import styles from './job_log.module.css'

/** The job as it was submitted, defaults filled in. */
export function JobSpecTab({ job }: { job: Job }) {
  const t = useText()
  const text = JSON.stringify(job.spec, null, 2)
  return (
    <>
      <div style={{ marginBottom: 8 }}><CopyButton value={text} /></div>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre className={styles.log} tabIndex={0} aria-label={t('jobs.tab.spec')}>{text}</pre>
    </>
  )
}
