import { Button, Group, Modal } from '@mantine/core'
import { useState } from 'react'
import { navigate } from '../../app/router/location'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { useUploadOperator } from '../../queries/operator_library'
import { JsonField } from '../../ui/json_field'
import { ErrorState } from '../../ui/states'
import { parsePackage } from './manifest'

/** Puts a signed package into the library: a new operator, or the next version of an uploaded one. */
export function UploadPackage({ onClose }: { onClose: () => void }) {
  const t = useText()
  const [text, setText] = useState('')
  const upload = useUploadOperator()
  const signed = parsePackage(text)
  return (
    <Modal opened onClose={onClose} size="xl" title={t('operators.upload.title')} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <JsonField label="JSON" hint={t('operators.upload.hint')} value={text} onChange={setText} rows={12}
        {...(text.trim() && !signed ? { error: t('operators.upload.needs') } : {})} />
      {upload.error ? <ErrorState error={upload.error} /> : null}
      <Group mt="md" gap="xs" justify="flex-end">
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        <Button variant="filled" disabled={!signed} loading={upload.isPending} onClick={() => {
          if (signed) upload.mutate({ package: signed }, { onSuccess: (made) => navigate(pathTo('/operators/:id', { id: made.id })) })
        }}>{t('operators.upload.do')}</Button>
      </Group>
    </Modal>
  )
}
