import { Button } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useRef, useState } from 'react'
import { navigate } from '../../app/router/location'
import { pathTo } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { idempotencyKey, type JobSpec, useJob, useSubmitJob } from '../../queries/jobs'
import { usePlacementPreview } from '../../queries/placement_preview'
import { type Format, writeDocument } from '../../ui/document_text'
import { useFieldErrors } from '../../ui/forms/field_errors'
import { Page, Section } from '../../ui/page'
import { ErrorState, LoadingState } from '../../ui/states'
import { JobForm } from './job_form'
import { JobTextPane } from './job_text_pane'
import { canPreview, jobAgain, readJob } from './job_text'
import { PreviewPane } from './preview_pane'
import styles from './submit.module.css'

const blank: JobSpec = { name: 'hello', command: ['sh', '-c', 'echo hello'], wall_limit_s: 600 }

export function SubmitPage() {
  const [filters] = useFilters(['from'])
  return filters.from ? <SubmitAgain key={filters.from} id={filters.from} /> : <SubmitJob key="new" start={blank} />
}

/** Begins with the specification of another job. */
function SubmitAgain({ id }: { id: string }) {
  const query = useJob(id)
  if (query.data) return <SubmitJob start={jobAgain(query.data)} />
  return query.isError ? <ErrorState error={query.error} retry={() => void query.refetch()} /> : <LoadingState />
}

function SubmitJob({ start }: { start: JobSpec }) {
  const t = useText()
  const [spec, setSpec] = useState(start)
  const [format, setFormat] = useState<Format>('yaml')
  const [text, setText] = useState(() => writeDocument(start, 'yaml'))
  const [broken, setBroken] = useState('')
  const submit = useSubmitJob()
  // The key stays while the job does: asking twice, by a double click or after a lost answer, makes one job.
  const key = useRef({ of: '', key: '' })

  const [settled] = useDebouncedValue(spec, 500)
  const preview = usePlacementPreview(!broken && canPreview(settled) ? settled : null)
  const errors = useFieldErrors(submit.error ?? preview.error)

  function changeSpec(next: JobSpec) {
    submit.reset()
    setSpec(next)
    setText(writeDocument(next, format))
    setBroken('')
  }
  function changeText(next: string) {
    submit.reset()
    setText(next)
    const read = readJob(next, format)
    setBroken(read.error ?? '')
    if (read.spec) setSpec(read.spec)
  }
  function changeFormat(next: Format) {
    setFormat(next)
    setText(writeDocument(spec, next))
    setBroken('')
  }
  function send() {
    const content = JSON.stringify(spec)
    if (key.current.of !== content) key.current = { of: content, key: idempotencyKey() }
    submit.mutate({ spec, key: key.current.key }, {
      onSuccess: (job) => 'id' in job && navigate(pathTo('/jobs/:id', { id: job.id })),
    })
  }

  return (
    <Page title={t('submit.title')} actions={
      <Button variant="filled" onClick={send} loading={submit.isPending} disabled={Boolean(broken) || !canPreview(spec)}>{t('submit.do')}</Button>
    }>
      {submit.error ? <div className={styles.refused}><ErrorState error={submit.error} /></div> : null}
      <div className={styles.panes}>
        <section aria-label={t('submit.form')}><JobForm spec={spec} errors={errors} currency={preview.data?.expected_cost?.cost.currency} onChange={changeSpec} /></section>
        <section aria-label={t('submit.text')}>
          <JobTextPane text={text} format={format} broken={broken} onText={changeText} onFormat={changeFormat} />
        </section>
      </div>
      <Section title={t('submit.preview')}>
        <PreviewPane query={preview} isIdle={!canPreview(spec)} />
      </Section>
    </Page>
  )
}
