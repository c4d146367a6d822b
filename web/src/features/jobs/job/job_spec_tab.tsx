import { Group, SegmentedControl } from '@mantine/core'
import { useFilters } from '../../../app/router/search'
import { useText } from '../../../i18n/language'
import type { Job } from '../../../queries/jobs'
import { CopyButton } from '../../../ui/copy_button'
import { type Format, writeDocument } from '../../../ui/document_text'
import styles from './job_log.module.css'

/** The job as it was submitted, defaults filled in: as YAML, in which most people write it, or as JSON. */
export function JobSpecTab({ job }: { job: Job }) {
  const t = useText()
  const [filters, change] = useFilters(['format'])
  const format: Format = filters.format === 'json' ? 'json' : 'yaml'
  const text = writeDocument(job.spec, format)
  return (
    <>
      <Group gap="sm" mb="xs">
        <SegmentedControl aria-label={t('jobs.spec.format')} value={format} onChange={(value) => change({ format: value === 'json' ? 'json' : '' })}
          data={[{ value: 'yaml', label: 'YAML' }, { value: 'json', label: 'JSON' }]} />
        <CopyButton value={text} />
      </Group>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre className={styles.log} tabIndex={0} aria-label={t('jobs.spec.as', { format: format.toUpperCase() })}>{text}</pre>
    </>
  )
}
