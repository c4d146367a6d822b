import { Button, Group, Modal } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../i18n/language'
import { type Job, useCancelJob } from '../../../queries/jobs'
import { ErrorState } from '../../../ui/states'

export function CancelJob({ job }: { job: Job }) {
  const t = useText()
  const [isOpen, setOpen] = useState(false)
  const cancel = useCancelJob()
  function close() {
    cancel.reset()
    setOpen(false)
  }
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('jobs.cancel')}</Button>
      <Modal opened={isOpen} onClose={close} title={t('jobs.cancel')} closeButtonProps={{ 'aria-label': t('ui.close') }}>
        <p>{t('jobs.cancel.ask')}</p>
        <p><strong>{job.name || job.id}</strong>{job.attempt ? <span className="dim"> · {job.attempt.center} / {job.attempt.unit_type}</span> : null}</p>
        {cancel.error ? <ErrorState error={cancel.error} /> : null}
        <Group mt="md" gap="xs" justify="flex-end">
          <Button onClick={close} data-autofocus>{t('ui.close')}</Button>
          <Button variant="filled" color="#b3261e" loading={cancel.isPending} onClick={() => cancel.mutate(job.id, { onSuccess: close })}>{t('jobs.cancel')}</Button>
        </Group>
      </Modal>
    </>
  )
}
