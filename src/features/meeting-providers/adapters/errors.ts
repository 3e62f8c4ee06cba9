/** The two ways in which a provider's callback is refused. Neither says anything of a secret or of the body. */
import { AppError, type Issue } from '../../../core/errors.ts';

/** 401: the callback is not, or not any longer, proven to come from the provider. */
export class UnverifiedCallback extends AppError {
  constructor(message: string) {
    super('UNAUTHORIZED', message);
    this.name = 'UnverifiedCallback';
  }
}

/** 400: the callback comes from the provider and makes no sense; the message names what is wrong. */
export class MalformedCallback extends AppError {
  constructor(message: string, issues?: readonly Issue[]) {
    super('BAD_REQUEST', message, issues && { issues });
    this.name = 'MalformedCallback';
  }
}
