import { EmptyState } from '../empty-state.tsx';
import { Instant } from '../instant.tsx';
import { Logo } from '../logo.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';

type Product = {
  name: string;
  title: string;
  logoPath: string | undefined;
  logoDarkPath: string | undefined;
  initial: string;
  href: string;
  openedAt: Date | undefined;
  mayEnter: boolean;
  needsFactor: boolean;
};

export function Products({ products }: { products: Product[] }) {
  const used = products
    .filter(({ openedAt }) => openedAt)
    .sort((one, other) => Number(other.openedAt) - Number(one.openedAt));
  const unused = products.filter(({ openedAt }) => !openedAt);
  if (products.length === 0)
    return (
      <div className="card">
        <EmptyState icon="grid" title="No products yet">
          <p>You will see the products you can use here.</p>
        </EmptyState>
      </div>
    );
  return (
    <>
      {used.length > 0 && <Part id="used" title="Products you use" products={used} />}
      {unused.length > 0 && (
        <Part id="unused" title={used.length > 0 ? 'Other products' : 'Products for you'} products={unused} />
      )}
    </>
  );
}

function Part({ id, title, products }: { id: string; title: string; products: Product[] }) {
  return (
    <Section id={id} title={title}>
      <Rows>
        {products.map((product) => (
          <Row
            key={product.name}
            mark={
              product.logoPath ? (
                <Logo logoPath={product.logoPath} logoDarkPath={product.logoDarkPath} />
              ) : (
                <span aria-hidden="true">{product.initial}</span>
              )
            }
            title={product.title}
            about={
              <>
                {product.openedAt ? (
                  <>
                    Last logged in <Instant at={product.openedAt} />
                  </>
                ) : (
                  'Not opened yet'
                )}
                {product.mayEnter && product.needsFactor && (
                  <>
                    <br />
                    Asks you to set up a second factor first.
                  </>
                )}
              </>
            }
            end={
              product.mayEnter ? (
                <a href={product.href} className="button quiet">
                  Open<span className="visually-hidden"> {product.title}</span>
                </a>
              ) : (
                <span className="hint">Not open to your account</span>
              )
            }
          />
        ))}
      </Rows>
    </Section>
  );
}
