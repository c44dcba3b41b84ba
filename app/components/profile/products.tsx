import { Instant } from '../instant.tsx';

type ProductsProps = {
  products: { name: string; title: string; href: string; openedAt: Date | undefined }[];
};

export function Products({ products }: ProductsProps) {
  return (
    <section aria-labelledby="products">
      <h2 id="products">Products that use your profile</h2>
      <div className="card">
        <p>
          Each time you open a product, we send it your name, email address, role and what you can do.
          Products never see your password.
        </p>
        <ul className="rows">
          {products.map(({ name, title, href, openedAt }) => (
            <li key={name}>
              <div>
                <strong>{title}</strong>
                <p className="hint">
                  {openedAt ? (
                    <>
                      Last opened with a new login <Instant at={openedAt} />
                    </>
                  ) : (
                    'Not opened yet'
                  )}
                </p>
              </div>
              <a href={href}>
                Open<span className="visually-hidden"> {title}</span>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
