import { useMutation } from '@tanstack/react-query';
import { createFileRoute, Link } from '@tanstack/react-router';
import { Button } from '../components/Button.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { trpc } from '../lib/client.ts';

export const Route = createFileRoute('/forgot-password')({ component: ForgotPasswordPage });

function ForgotPasswordPage() {
  const request = useMutation(trpc.passwords.forgot.mutationOptions());
  return (
    <SignInFrame title="Forgot your password?">
      {request.isSuccess ? (
        <p role="status">
          If {request.variables.email} has an account, an email with a link is on its way. The link works for an hour.
        </p>
      ) : (
        <Form onSubmit={(values) => request.mutate({ email: String(values.get('email')) })} error={request.error}>
          <p>We email you a link to set a new password.</p>
          <TextField name="email" label="Email" type="email" autoComplete="username" required />
          <Button type="submit" tone="primary" isPending={request.isPending}>
            Send the link
          </Button>
        </Form>
      )}
      <p>
        <Link to="/" className="link">
          Back to sign-in
        </Link>
      </p>
    </SignInFrame>
  );
}
